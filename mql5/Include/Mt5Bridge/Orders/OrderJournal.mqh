// The durable memory of orders: an append-only file that is written before anything is done.
//
// Layout: 8 bytes of header, then records of u4 length, u4 CRC-32, payload. A crash can tear the
// last record only; that one is cut when the journal is opened. Damage anywhere else is refused,
// since a forgotten order could be executed twice.
#ifndef MT5BRIDGE_ORDERS_ORDER_JOURNAL_MQH
#define MT5BRIDGE_ORDERS_ORDER_JOURNAL_MQH

#include "..\Wire\Crc32.mqh"
#include "OrderRecords.mqh"

#define JOURNAL_MAGIC_LOW  0x4F35544D
#define JOURNAL_MAGIC_HIGH 0x00014452
#define JOURNAL_HEADER     8
#define JOURNAL_RECORD_MAX 16384
#define JOURNAL_COMPACT    4194304

// Holds its file open and exclusively, so that two programs cannot execute the same ids.
class OrderJournal
  {
private:
   string            m_path;
   int               m_handle;
   ulong             m_bytes;
   ulong             m_compact_at;
   string            m_error;
   ByteWriter        m_writer;
   ByteReader        m_reader;
   Crc32             m_crc;
   uchar             m_payload[];
   uchar             m_frame[];

public:
                     OrderJournal(void)
     {
      m_handle = INVALID_HANDLE;
      m_bytes = 0;
      m_compact_at = JOURNAL_COMPACT;
     }

                    ~OrderJournal(void) { Close(); }

   // What is wrong, with a remedy.
   string            Error(void) const { return(m_error); }

   // Whether the file has grown so much that Compact() is worth while.
   bool              Large(void) const { return(m_bytes > m_compact_at); }

   // Reads the journal at `path` (in Files) into the book, which forgets what it held, and writes it
   // anew without what is final and older than `forget_msc`. What was planned and not sent is to be
   // planned again: settings, limits and the kill switch of now count. False: Error() says why.
   bool              Open(const string path, OrderBook &book, const long forget_msc)
     {
      Close();
      book.Clear();
      m_path = path;
      if(!FileIsExist(path) && FileIsExist(path + ".new"))
         FileMove(path + ".new", 0, path, 0);
      if(FileIsExist(path) && !Load(book))
         return(false);
      book.Forget(forget_msc);
      for(int i = 0; i < book.Count(); i++)
        {
         OrderEntry *entry = book.At(i);
         entry.Unplan();
        }
      return(Compact(book));
     }

   // Writes the book to a new file that takes the old one's place, whatever happens meanwhile.
   bool              Compact(OrderBook &book)
     {
      Close();
      const string fresh = m_path + ".new";
      m_handle = FileOpen(fresh, FILE_WRITE | FILE_BIN);
      if(m_handle == INVALID_HANDLE)
         return(Fail("cannot write", fresh));
      m_bytes = 0;
      m_writer.Clear();
      m_writer.U4(JOURNAL_MAGIC_LOW);
      m_writer.U4(JOURNAL_MAGIC_HIGH);
      bool good = Put();
      for(int i = 0; good && i < book.Count(); i++)
         good = WriteWhole(book.At(i));
      good = good && Flush();
      Close();
      if(!good)
         return(Fail("cannot write", fresh));
      if(!FileMove(fresh, 0, m_path, FILE_REWRITE))
         return(Fail("cannot replace", m_path));
      m_compact_at = 2 * m_bytes + JOURNAL_COMPACT;
      return(Reopen());
     }

   // Remembers an accepted request.
   bool              WriteEntry(const OrderEntry &entry)
     {
      m_writer.Clear();
      WriteEntryRecord(entry, m_writer);
      return(PutRecord());
     }

   // Remembers the state of a leg.
   bool              WriteLeg(const OrderEntry &entry, const int index)
     {
      m_writer.Clear();
      WriteLegRecord(entry.request.id, index, entry.legs[index], m_writer);
      return(PutRecord());
     }

   // Remembers a result.
   bool              WriteResult(const SignalResultFrame &result)
     {
      m_writer.Clear();
      WriteResultRecord(result, m_writer);
      return(PutRecord());
     }

   // Puts everything written on the disk.
   bool              Flush(void)
     {
      if(m_handle == INVALID_HANDLE)
         return(false);
      FileFlush(m_handle);
      return(true);
     }

   void              Close(void)
     {
      if(m_handle != INVALID_HANDLE)
         FileClose(m_handle);
      m_handle = INVALID_HANDLE;
     }

private:
   bool              Fail(const string what, const string path)
     {
      m_error = StringFormat("%s Files\\%s (error %d): another trader uses it, or the disk is full",
                             what, path, GetLastError());
      return(false);
     }

   // The remedy must be none after which an executed id is unknown.
   bool              Damaged(const int at)
     {
      m_error = StringFormat("Files\\%s is damaged at byte %d. Nothing is executed without it, "
                             "since orders that it names could be executed twice: restore this "
                             "file from a backup (docs/terminal.md, The journal)", m_path, at);
      return(false);
     }

   bool              Reopen(void)
     {
      m_handle = FileOpen(m_path, FILE_READ | FILE_WRITE | FILE_BIN);
      if(m_handle == INVALID_HANDLE || !FileSeek(m_handle, 0, SEEK_END))
         return(Fail("cannot open", m_path));
      return(true);
     }

   bool              WriteWhole(const OrderEntry &entry)
     {
      bool good = WriteEntry(entry);
      for(int i = 0; good && i < ArraySize(entry.legs); i++)
         good = WriteLeg(entry, i);
      for(int i = 0; good && i < ArraySize(entry.results); i++)
         good = WriteResult(entry.results[i]);
      return(good);
     }

   // Writes what the writer holds as a record, in one call.
   bool              PutRecord(void)
     {
      const int size = m_writer.Size();
      ArrayResize(m_payload, size);
      m_writer.CopyTo(m_payload, 0);
      m_writer.Clear();
      m_writer.U4((uint)size);
      m_writer.U4(m_crc.Update(0, m_payload, 0, size));
      m_writer.Raw(m_payload, size);
      return(Put());
     }

   bool              Put(void)
     {
      if(m_handle == INVALID_HANDLE)
         return(false);
      const int size = m_writer.Size();
      ArrayResize(m_frame, size);
      m_writer.CopyTo(m_frame, 0);
      m_bytes += (ulong)size;
      return(FileWriteArray(m_handle, m_frame, 0, size) == (uint)size);
     }

   // Reads all records; a torn last one is left out.
   bool              Load(OrderBook &book)
     {
      const int handle = FileOpen(m_path, FILE_READ | FILE_BIN);
      if(handle == INVALID_HANDLE)
         return(Fail("cannot read", m_path));
      uchar data[];
      const int size = FileSize(handle) > 0 ? (int)FileReadArray(handle, data) : 0;
      FileClose(handle);
      if(size < JOURNAL_HEADER)
         return(true);
      m_reader.Open(data, 0, size);
      if(m_reader.U4() != JOURNAL_MAGIC_LOW || m_reader.U4() != JOURNAL_MAGIC_HIGH)
         return(Damaged(0));
      int at = JOURNAL_HEADER;
      while(at < size)
        {
         const int length = RecordLength(data, at, size);
         if(length < 0)
            return(Damaged(at));
         if(length == 0)
            break;
         m_reader.Open(data, at + 8, length);
         if(!TakeRecord(m_reader, book))
            return(Damaged(at));
         at += 8 + length;
        }
      return(true);
     }

   // The length of the record at `at`, 0 if it is the torn end of the file, -1 if it is damaged.
   int               RecordLength(const uchar &data[], const int at, const int size)
     {
      if(size - at < 8 || Zeros(data, at, size))
         return(0);
      m_reader.Open(data, at, 8);
      const uint length = m_reader.U4();
      const uint sum = m_reader.U4();
      if(length == 0 || length > JOURNAL_RECORD_MAX)
         return(-1);
      const int end = at + 8 + (int)length;
      if(end > size)
         return(0);
      if(m_crc.Update(0, data, at + 8, (int)length) == sum)
         return((int)length);
      return(end == size || Zeros(data, at + 8, size) ? 0 : -1);
     }

   bool              Zeros(const uchar &data[], const int from, const int end) const
     {
      for(int i = from; i < end; i++)
         if(data[i] != 0)
            return(false);
      return(true);
     }
  };

#endif
