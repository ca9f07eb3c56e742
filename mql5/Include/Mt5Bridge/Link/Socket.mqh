//| A TCP connection of the terminal, each call of which takes a bounded time.
#ifndef MT5BRIDGE_LINK_SOCKET_MQH
#define MT5BRIDGE_LINK_SOCKET_MQH

#include "Failures.mqh"

#define SOCKET_READ_MS 1

// SocketIsReadable may say 1 on an empty buffer, so every read has a timeout of a millisecond;
// a read that brings nothing then is no failure. A short send is continued by the caller.
class Socket
  {
private:
   int               m_handle;
   int               m_error;
   LinkFailure       m_failure;
   ulong             m_slowest_us;

   // Notes how long the call that began at `begin_us` took.
   void              Took(const ulong begin_us)
     {
      const ulong spent_us = GetMicrosecondCount() - begin_us;
      if(spent_us > m_slowest_us)
         m_slowest_us = spent_us;
     }

   // Notes why the connection is of no use any more; gives -1.
   int               Fail(const LinkFailure failure)
     {
      m_error = GetLastError();
      m_failure = failure;
      return(-1);
     }

   bool              Connect(const string host, const int port, const int connect_ms,
                             const int io_ms)
     {
      m_handle = SocketCreate();
      if(m_handle == INVALID_HANDLE)
         return(false);
      const ulong begin_us = GetMicrosecondCount();
      const bool connected = SocketConnect(m_handle, host, (uint)port, (uint)connect_ms);
      Took(begin_us);
      // Reads have timeouts of their own, and nothing is sent to a socket that does not take it.
      if(connected && !SocketTimeouts(m_handle, (uint)io_ms, (uint)io_ms))
         PrintFormat("the socket takes no timeouts (error %d): it is used without", GetLastError());
      return(connected);
     }

public:
                     Socket(void)
     {
      m_handle = INVALID_HANDLE;
      m_error = 0;
      m_failure = LINK_NO_FAILURE;
      m_slowest_us = 0;
     }
                    ~Socket(void) { Close(); }

   // Connects within `connect_ms`; a send takes `io_ms` at most.
   bool              Open(const string host, const int port, const int connect_ms, const int io_ms)
     {
      Close();
      m_failure = LINK_NO_FAILURE;
      ResetLastError();
      if(Connect(host, port, connect_ms, io_ms))
         return(true);
      const bool forbidden = GetLastError() == ERR_FUNCTION_NOT_ALLOWED;
      Fail(forbidden ? LINK_NOT_ALLOWED : LINK_CONNECT_FAILED);
      Close();
      return(false);
     }

   void              Close(void)
     {
      if(m_handle != INVALID_HANDLE)
         SocketClose(m_handle);
      m_handle = INVALID_HANDLE;
     }

   bool              IsOpen(void) const { return(m_handle != INVALID_HANDLE); }
   // Why the last call failed, and the terminal's error number then.
   LinkFailure       Failure(void) const { return(m_failure); }
   int               Error(void) const { return(m_error); }
   ulong             SlowestUs(void) const { return(m_slowest_us); }

   // Puts at most `bytes_max` bytes that are there into `buffer`; 0 none, -1 the link is gone.
   int               Read(uchar &buffer[], const int bytes_max)
     {
      ArrayResize(buffer, 0, bytes_max);
      ResetLastError();
      const uint readable = SocketIsReadable(m_handle);
      if(readable == 0)
         return(SocketIsConnected(m_handle) ? 0 : Fail(LINK_PEER_CLOSED));
      const uint wanted = readable < (uint)bytes_max ? readable : (uint)bytes_max;
      const ulong begin_us = GetMicrosecondCount();
      const int count = SocketRead(m_handle, buffer, wanted, SOCKET_READ_MS);
      Took(begin_us);
      if(count > 0)
         return(count);
      if(!SocketIsConnected(m_handle))
         return(Fail(LINK_PEER_CLOSED));
      return(count < 0 && readable > 1 ? Fail(LINK_READ_FAILED) : 0);
     }

   // Sends the first of `count` bytes, as many as go; 0 none now, -1 the link is gone.
   int               Send(const uchar &buffer[], const int count)
     {
      ResetLastError();
      if(!SocketIsWritable(m_handle))
         return(SocketIsConnected(m_handle) ? 0 : Fail(LINK_PEER_CLOSED));
      const ulong begin_us = GetMicrosecondCount();
      const int sent = SocketSend(m_handle, buffer, (uint)count);
      Took(begin_us);
      return(sent < 0 ? Fail(LINK_SEND_FAILED) : sent);
     }
  };

#endif
