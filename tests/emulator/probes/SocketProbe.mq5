// Connects, sends a counting pattern, reads until the peer has sent it back, prints every oddity.
#property version "1.00"

input string Address   = "127.0.0.1";  // whom to connect to
input int    Port      = 0;            // its port
input int    Bytes     = 100000;       // how many bytes to send
input int    ReadMs    = 50;           // timeout of one read
input bool   ReadFirst = false;        // read before anything was sent
input bool   Exhaust   = false;        // only create sockets until there are no more

int Fill()
  {
   int created = 0;
   while(SocketCreate() != INVALID_HANDLE)
      created++;
   return created;
  }

bool Send(const int socket, const uchar &data[])
  {
   int sent = 0;
   int calls = 0;
   uchar rest[];
   while(sent < ArraySize(data))
     {
      ArrayResize(rest, 0);
      ArrayCopy(rest, data, 0, sent);
      ResetLastError();
      const int taken = SocketSend(socket, rest, ArraySize(rest));
      calls++;
      if(taken <= 0)
        {
         PrintFormat("send failed after %d bytes, %d error %d connected %d", sent, taken,
                     GetLastError(), SocketIsConnected(socket));
         return false;
        }
      sent += taken;
     }
   PrintFormat("sent %d in %d calls", sent, calls);
   return true;
  }

void Receive(const int socket, const int wanted)
  {
   int received = 0;
   int wrong = 0;
   uchar piece[];
   const ulong begin = GetTickCount64();
   while(received < wanted && GetTickCount64() - begin < 5000)
     {
      ResetLastError();
      const uint waiting = SocketIsReadable(socket);
      if(GetLastError() != 0)
        {
         PrintFormat("readable error %d after %d bytes", GetLastError(), received);
         return;
        }
      if(waiting == 0)
         continue;
      ArrayResize(piece, 0);
      const int got = SocketRead(socket, piece, waiting, 1);
      for(int i = 0; i < got; i++)
         wrong += piece[i] != (uchar)((received + i) % 251);
      received += MathMax(got, 0);
     }
   PrintFormat("received %d wrong %d", received, wrong);
  }

void OnStart()
  {
   if(Exhaust)
     {
      const int created = Fill();
      PrintFormat("created %d error %d", created, GetLastError());
      return;
     }
   const int socket = SocketCreate();
   uchar data[];
   ArrayResize(data, Bytes);
   for(int i = 0; i < Bytes; i++)
      data[i] = (uchar)(i % 251);
   ResetLastError();
   const int early = SocketRead(socket, data, 1, 1);
   PrintFormat("read unconnected %d error %d", early, GetLastError());
   ResetLastError();
   SocketTimeouts(socket, 200, 200);
   if(!SocketConnect(socket, Address, (uint)Port, 500))
     {
      PrintFormat("connect error %d", GetLastError());
      return;
     }
   if(ReadFirst)
     {
      uchar none[];
      const uint dummy = SocketIsReadable(socket);
      const ulong begin = GetTickCount64();
      const int got = SocketRead(socket, none, 10, (uint)ReadMs);
      PrintFormat("dummy %d read %d error %d waited %d", dummy, got, GetLastError(),
                  GetTickCount64() - begin >= (ulong)ReadMs);
     }
   if(Send(socket, data))
      Receive(socket, Bytes);
   SocketClose(socket);
   ResetLastError();
   SocketIsConnected(socket);
   PrintFormat("closed, error %d", GetLastError());
  }
