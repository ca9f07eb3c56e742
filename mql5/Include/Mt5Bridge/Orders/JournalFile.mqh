// A file that is only appended to, and what is still to be written there.
//
// What a full disk or another program keeps from being written stays in memory and is tried again.
// A write that fails half way leaves a torn end behind what is known to be written; it is made
// zeros before anything else is written over it, so that a reader always finds records, then the
// torn begin of one at most, then zeros.
#ifndef MT5BRIDGE_ORDERS_JOURNAL_FILE_MQH
#define MT5BRIDGE_ORDERS_JOURNAL_FILE_MQH

#include "..\Wire\ByteWriter.mqh"

#define JOURNAL_RECORD_HEAD 8

// Holds its file open and exclusively, so that two programs cannot execute the same ids.
class JournalFile
  {
private:
   string            m_path;
   int               m_handle;
   int               m_end;         // bytes that are known to be written
   int               m_size;        // bytes of the file when it was read, or closed
   bool              m_torn;        // something else lies behind m_end
   string            m_error;
   ByteWriter        m_waiting;
   uchar             m_bytes[];

public:
                     JournalFile(void) { m_handle = INVALID_HANDLE; }
                    ~JournalFile(void) { Close(); }

   // What is wrong, with a remedy.
   string            Error(void) const { return(m_error); }

   // Bytes, with those that are still to be written.
   int               Size(void) const { return(m_end + m_waiting.Size()); }

   // Goes on at `path` behind the first `end` of the `size` bytes it has (0: it may not be there yet).
   bool              Begin(const string path, const int end, const int size)
     {
      Close();
      m_path = path;
      m_waiting.Clear();
      m_end = end;
      m_size = size;
      m_torn = size > end;
      return(Opened());
     }

   // Takes bytes that Flush() will write.
   void              Append(const ByteWriter &bytes) { m_waiting.Append(bytes); }

   // Whether everything is on the disk now; else it is kept, and tried again the next time.
   bool              Flush(void)
     {
      if(!Opened() || (m_torn && !Cut()))
         return(false);
      const int size = m_waiting.Size();
      ArrayResize(m_bytes, size);
      m_waiting.CopyTo(m_bytes, 0);
      m_torn = size > 0;
      if(!Put(m_end, size))
         return(Fail("cannot write", m_path));
      m_torn = false;
      m_end += size;
      m_waiting.Clear();
      return(true);
     }

   // Puts the file `fresh` of `size` bytes, which holds everything, in this one's place. False: this
   // one stands as it was.
   bool              Replace(const string fresh, const int size)
     {
      if(!Flush())
         return(false);
      Close();
      if(!FileMove(fresh, 0, m_path, FILE_REWRITE))
        {
         Fail("cannot replace", m_path);
         Opened();  // else the next Flush() tries it
         return(false);
        }
      m_end = size;
      m_size = size;
      Opened();
      return(true);
     }

   // Writes what waits, if that can be, and lets go of the file.
   void              Close(void)
     {
      if(m_handle == INVALID_HANDLE)
         return;
      Flush();
      m_size = (int)FileSize(m_handle);
      FileClose(m_handle);
      m_handle = INVALID_HANDLE;
     }

private:
   bool              Fail(const string what, const string path)
     {
      m_error = StringFormat("%s Files\\%s (error %d): another program uses it, or the disk is full",
                             what, path, GetLastError());
      return(false);
     }

   // Opens the file when it is not. One that somebody else has changed meanwhile is not written to.
   bool              Opened(void)
     {
      if(m_handle != INVALID_HANDLE)
         return(true);
      if(m_path == "" || (m_size > 0 && !FileIsExist(m_path)))
         return(Fail("there is no", m_path));
      m_handle = FileOpen(m_path, FILE_READ | FILE_WRITE | FILE_BIN);
      if(m_handle == INVALID_HANDLE)
         return(Fail("cannot open", m_path));
      if((int)FileSize(m_handle) == m_size)
         return(true);
      FileClose(m_handle);
      m_handle = INVALID_HANDLE;
      return(Fail("another trader has written to", m_path));
     }

   // Makes zeros of a torn end, its length last: at each moment it is one.
   bool              Cut(void)
     {
      const int torn = (int)FileSize(m_handle) - m_end;
      const int head = MathMin(torn, JOURNAL_RECORD_HEAD);
      ArrayResize(m_bytes, MathMax(torn, 0));
      ArrayInitialize(m_bytes, 0);
      if(torn > 0 && !(Put(m_end + head, torn - head) && Put(m_end, head)))
         return(Fail("cannot write", m_path));
      m_torn = false;
      return(true);
     }

   // Writes the first `size` bytes of m_bytes at `at`. FileFlush() returns nothing: only the file's
   // size and the error tell whether it went well.
   bool              Put(const int at, const int size)
     {
      ResetLastError();
      if(!FileSeek(m_handle, at, SEEK_SET)
         || (size > 0 && FileWriteArray(m_handle, m_bytes, 0, size) != (uint)size))
         return(false);
      FileFlush(m_handle);
      return(GetLastError() != ERR_FILE_WRITEERROR && (int)FileSize(m_handle) >= at + size);
     }
  };

#endif
