// A file that is only appended to, and what is still to be written there.
//
// What a full disk or another program keeps from being written stays in memory and is tried again.
// Records that wait are written together, with a mark in place of the first one's head and a mark
// behind them, and are flushed; then the head takes its mark's place. A reader takes a mark as the
// end of the file: it finds all of them or none, whatever has failed half way, and nothing is ever
// behind records that may not be there. Half a head with the other half of a mark is a mark, too.
#ifndef MT5BRIDGE_ORDERS_JOURNAL_FILE_MQH
#define MT5BRIDGE_ORDERS_JOURNAL_FILE_MQH

#include "..\Wire\ByteWriter.mqh"

#define JOURNAL_RECORD_HEAD 8
#define JOURNAL_MARK_LENGTH 0x00004000   // no record is so long; earlier versions find it torn
#define JOURNAL_MARK_SUM    0x6B72616D

// Holds its file open and exclusively, so that two programs cannot execute the same ids.
class JournalFile
  {
private:
   string            m_path;
   int               m_handle;
   int               m_end;         // bytes that are known to be written
   int               m_size;        // bytes of the file when it was read, or closed
   bool              m_unmarked;    // at m_end may be something else than a mark
   long              m_taken;       // bytes that Append() took
   long              m_tried;       // of these, how many may be records to a reader
   string            m_error;
   ByteWriter        m_waiting;
   ByteWriter        m_mark;
   uchar             m_bytes[];

public:
                     JournalFile(void)
     {
      m_handle = INVALID_HANDLE;
      m_mark.U4(JOURNAL_MARK_LENGTH);
      m_mark.U4(JOURNAL_MARK_SUM);
     }
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
      m_unmarked = size > end;
      m_taken = 0;
      m_tried = 0;
      return(Opened());
     }

   // Takes bytes that Flush() will write; their place, for Absent().
   long              Append(const ByteWriter &bytes)
     {
      m_waiting.Append(bytes);
      m_taken += bytes.Size();
      return(m_taken);
     }

   // Whether what Append() took last at `place` is certainly not in the file to who reads it.
   bool              Absent(const long place) const { return(place > m_tried); }

   // Whether everything is on the disk now; else it is kept, and tried again the next time.
   bool              Flush(void)
     {
      if(!Opened())
         return(false);
      const int size = m_waiting.Size();
      if(size == 0)
         return(true);
      if(!Prepare(size) || !Commit(size))
         return(Fail("cannot write", m_path));
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

   // Writes the `size` bytes that wait so that a reader does not see them. A mark comes first and
   // alone where the end may be something else: behind a head more must not be written.
   bool              Prepare(const int size)
     {
      ArrayResize(m_bytes, size + JOURNAL_RECORD_HEAD);
      m_waiting.CopyTo(m_bytes, 0);
      m_mark.CopyTo(m_bytes, 0);
      m_mark.CopyTo(m_bytes, size);
      if(m_unmarked && !Put(m_end, JOURNAL_RECORD_HEAD))
         return(false);
      m_unmarked = false;
      return(Put(m_end, size + JOURNAL_RECORD_HEAD));
     }

   // Shows a reader what Prepare() has written. If that fails, it may be shown or not.
   bool              Commit(const int size)
     {
      m_waiting.CopyTo(m_bytes, 0);
      m_unmarked = true;
      m_tried = m_taken;
      if(!Put(m_end, JOURNAL_RECORD_HEAD))
         return(false);
      m_unmarked = false;
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
