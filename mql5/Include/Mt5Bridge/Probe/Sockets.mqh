//| What a connection to the daemon does: a greeting is sent, and nobody is logged in.
#ifndef MT5BRIDGE_PROBE_SOCKETS_MQH
#define MT5BRIDGE_PROBE_SOCKETS_MQH

#include "Facts.mqh"

#define PROBE_CLOSED_PORT 1     // nobody listens there
#define PROBE_CONNECT_MS  2000
#define PROBE_WAIT_US     5000000
#define PROBE_SIGNATURE   10    // bytes with which a ZMTP peer begins, and waits for

// Whom the sockets connect to.
struct ProbePeer
  {
   string            host;
   int               port;
  };

// A connected socket, INVALID_HANDLE and the error otherwise; `spent_us` is how long it took.
int ProbeConnect(const string host, const int port, long &spent_us, int &error)
  {
   const int socket = SocketCreate();
   ResetLastError();
   const ulong begin_us = GetMicrosecondCount();
   const bool connected = SocketConnect(socket, host, (uint)port, PROBE_CONNECT_MS);
   spent_us = (long)(GetMicrosecondCount() - begin_us);
   error = GetLastError();
   if(connected)
      return(socket);
   SocketClose(socket);
   return(INVALID_HANDLE);
  }

// Reads until `count` bytes are there; false when they do not come in time.
bool ProbeAwait(const int socket, const int count)
  {
   uchar piece[];
   int have = 0;
   const ulong begin_us = GetMicrosecondCount();
   while(have < count && GetMicrosecondCount() - begin_us < PROBE_WAIT_US)
     {
      const uint readable = SocketIsReadable(socket);
      const uint wanted = (uint)(count - have);
      ArrayResize(piece, 0);
      const int got = readable > 0 ? SocketRead(socket, piece, readable < wanted ? readable : wanted, 1) : 0;
      have += got > 0 ? got : 0;
     }
   return(have >= count);
  }

// How a ZMTP peer begins; it answers when it has all of it.
void ProbeSignature(uchar &bytes[])
  {
   ArrayResize(bytes, PROBE_SIGNATURE);
   ArrayInitialize(bytes, 0);
   bytes[0] = 0xFF;
   bytes[PROBE_SIGNATURE - 1] = 0x7F;
  }

// From the sending of the signature to the first byte of the answer, in pieces of `piece` bytes; -1: none.
long ProbeAnswerUs(const int socket, const int piece)
  {
   uchar bytes[];
   uchar part[];
   ProbeSignature(bytes);
   if(!ProbeAwait(socket, PROBE_SIGNATURE))
      return(-1);
   const ulong begin_us = GetMicrosecondCount();
   for(int at = 0; at < PROBE_SIGNATURE; at += piece)
     {
      ArrayResize(part, 0);
      ArrayCopy(part, bytes, 0, at, piece);
      if(SocketSend(socket, part, (uint)piece) != piece)
         return(-1);
     }
   return(ProbeAwait(socket, 1) ? (long)(GetMicrosecondCount() - begin_us) : -1);
  }

// Looks at and reads from a connection on which nothing waits.
void ProbeEmpty(const int socket, ProbeFacts &facts)
  {
   uchar bytes[];
   facts.Whole("socket.readable_when_empty", (long)SocketIsReadable(socket));
   ResetLastError();
   const ulong begin_us = GetMicrosecondCount();
   facts.Whole("socket.read_empty", SocketRead(socket, bytes, 1, 1));
   facts.Whole("socket.read_empty_error", GetLastError());
   facts.Whole("socket.read_empty_us", (long)(GetMicrosecondCount() - begin_us));
   facts.Truth("socket.lives_after_empty_read", SocketIsConnected(socket));
   facts.Truth("socket.writable", SocketIsWritable(socket));
  }

void ProbeClosed(const ProbePeer &peer, ProbeFacts &facts)
  {
   long spent_us = 0;
   int error = 0;
   const int socket = ProbeConnect(peer.host, PROBE_CLOSED_PORT, spent_us, error);
   if(socket != INVALID_HANDLE)
      SocketClose(socket);
   facts.Whole("socket.closed_port_error", error);
   facts.Whole("socket.closed_port_ms", spent_us / 1000);
  }

void ProbeSockets(const ProbePeer &peer, ProbeFacts &facts)
  {
   ProbeClosed(peer, facts);
   long spent_us = 0;
   int error = 0;
   int socket = ProbeConnect(peer.host, peer.port, spent_us, error);
   if(socket == INVALID_HANDLE)
     {
      facts.Skip("socket.", StringFormat("no connection to %s:%d (error %d): allow the address, start the daemon", peer.host, peer.port, error));
      return;
     }
   facts.Whole("socket.connect_us", spent_us);
   facts.Truth("socket.timeouts", SocketTimeouts(socket, 1000, 1000));
   facts.Whole("socket.round_trip_us", ProbeAnswerUs(socket, PROBE_SIGNATURE));
   ProbeEmpty(socket, facts);
   SocketClose(socket);
   facts.Truth("socket.closed_is_connected", SocketIsConnected(socket));
   socket = ProbeConnect(peer.host, peer.port, spent_us, error);
   if(socket == INVALID_HANDLE)
      return;
   facts.Whole("socket.small_sends_us", ProbeAnswerUs(socket, 1));
   SocketClose(socket);
  }

#endif
