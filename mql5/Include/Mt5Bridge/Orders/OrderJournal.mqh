// The durable memory of orders: an append-only file that is written before anything is done.
//
// Layout: 8 bytes of header, then records of u4 length, u4 CRC-32, payload. A mark in place of a
// record's head is the end (JournalFile.mqh). Earlier versions left the last record torn, with zeros
// behind it; that is an end, too. Damage anywhere else is refused, since a forgotten order could be
// executed twice.
#ifndef MT5BRIDGE_ORDERS_ORDER_JOURNAL_MQH
#define MT5BRIDGE_ORDERS_ORDER_JOURNAL_MQH

#include "..\Wire\Crc32.mqh"
#include "JournalFile.mqh"
#include "OrderRecords.mqh"

#define JOURNAL_MAGIC_LOW  0x4F35544D
#define JOURNAL_MAGIC_HIGH 0x00014452
#define JOURNAL_HEADER     8
#define JOURNAL_RECORD_MAX 16384
#define JOURNAL_COMPACT    4194304
#define JOURNAL_TRY_AGAIN  65536     // bytes more after which a compaction that failed is tried again
#define JOURNAL_CHUNK      65536

class OrderJournal
  {
private:
   string            m_path;
   JournalFile       m_file;
   int               m_compact_at;
   string            m_error;
   ByteWriter        m_writer;
   ByteWriter        m_frame;
   ByteWriter        m_fresh;
   ByteReader        m_reader;
   Crc32             m_crc;
   uchar             m_bytes[];

public:
                     OrderJournal(void) { m_compact_at = JOURNAL_COMPACT; }

   // What is wrong, with a remedy.
   string            Error(void) const { return(m_error); }

   // Whether the file has grown so much that Compact() is worth while.
   bool              Large(void) const { return(m_file.Size() > m_compact_at); }

   // Reads the journal at `path` (in Files) into the book, which forgets what it held, and writes it
   // anew, if that can be, without what is final and older than `forget_msc`. What was planned and
   // not sent is to be planned again: settings, limits and the kill switch of now count. False:
   // Error() says why.
   bool              Open(const string path, OrderBook &book, const long forget_msc)
     {
      Close();
      book.Clear();
      m_path = path;
      int end = 0;
      int size = 0;
      if(!FileIsExist(path) && FileIsExist(path + ".new") && !FileMove(path + ".new", 0, path, 0))
         return(Fail("cannot rename", path + ".new"));
      if(FileIsExist(path) && !Load(book, end, size))
         return(false);
      if(!m_file.Begin(path, end, size))
        {
         m_error = m_file.Error();
         return(false);
        }
      PutHeader();
      if(end == 0)
         m_file.Append(m_frame);
      Unplan(book);
      if(!Compact(book, forget_msc))
         Print(m_error, "; what it holds counts, and it is tried again later");
      return(true);
     }

   // Writes the book, without what is final and older than `forget_msc`, to a new file that takes the
   // old one's place. False: the old one goes on, and nothing is forgotten.
   bool              Compact(OrderBook &book, const long forget_msc)
     {
      const string fresh = m_path + ".new";
      const int size = WriteFresh(book, forget_msc, fresh);
      m_compact_at = m_file.Size() + JOURNAL_TRY_AGAIN;
      if(size < 0)
        {
         Fail("cannot write", fresh);
         FileDelete(fresh);
         return(false);
        }
      if(!m_file.Replace(fresh, size))
        {
         m_error = m_file.Error();
         return(false);
        }
      book.Forget(forget_msc);
      m_compact_at = 2 * size + JOURNAL_COMPACT;
      return(true);
     }

   // Remembers an accepted request, and that nothing is planned for it; its place, for Absent().
   long              WriteEntry(const OrderEntry &entry)
     {
      WriteEntryRecord(entry, m_writer);
      return(PutRecord());
     }

   // Whether who reads the file now certainly does not find what was written to `place`.
   bool              Absent(const long place) const { return(m_file.Absent(place)); }

   // Remembers the state of a leg.
   void              WriteLeg(const OrderEntry &entry, const int index)
     {
      WriteLegRecord(entry.request.id, index, entry.legs[index], m_writer);
      PutRecord();
     }

   // Remembers a result.
   void              WriteResult(const SignalResultFrame &result)
     {
      WriteResultRecord(result, m_writer);
      PutRecord();
     }

   // Whether everything that was remembered is on the disk now; if not, that is tried again with
   // the next Flush().
   bool              Flush(void)
     {
      if(m_file.Flush())
         return(true);
      m_error = m_file.Error();
      return(false);
     }

   void              Close(void) { m_file.Close(); }

private:
   bool              Fail(const string what, const string path)
     {
      m_error = StringFormat("%s Files\\%s (error %d): another program uses it, or the disk is full",
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

   // The header, in m_frame.
   void              PutHeader(void)
     {
      m_frame.Clear();
      m_frame.U4(JOURNAL_MAGIC_LOW);
      m_frame.U4(JOURNAL_MAGIC_HIGH);
     }

   // Appends what the writer holds, as a record; the writer is empty afterwards. Its place.
   long              PutRecord(void)
     {
      Frame();
      return(m_file.Append(m_frame));
     }

   // The same to the new file.
   void              PutFresh(void)
     {
      Frame();
      m_fresh.Append(m_frame);
     }

   // What the writer holds as a record, in m_frame.
   void              Frame(void)
     {
      const int size = m_writer.Size();
      m_frame.Clear();
      m_frame.U4((uint)size);
      m_frame.U4(m_writer.Checksum(m_crc, 0, 0, size));
      m_frame.Append(m_writer);
      m_writer.Clear();
     }

   // Lets go of plans of which nothing was sent. The file says so, since it may stand as it is.
   void              Unplan(OrderBook &book)
     {
      for(int i = 0; i < book.Count(); i++)
        {
         OrderEntry *entry = book.At(i);
         if(entry.Unplan())
            WriteEntry(entry);
        }
     }

   // Writes the book to a file of its own; its size in bytes, -1 if that cannot be.
   int               WriteFresh(OrderBook &book, const long forget_msc, const string path)
     {
      const int handle = FileOpen(path, FILE_WRITE | FILE_BIN);
      if(handle == INVALID_HANDLE)
         return(-1);
      m_fresh.Clear();
      PutHeader();
      m_fresh.Append(m_frame);
      int size = 0;
      for(int i = 0; i < book.Count() && size >= 0; i++)
        {
         OrderEntry *entry = book.At(i);
         if(!entry.Forgettable(forget_msc))
            PutWhole(entry);
         if(m_fresh.Size() > JOURNAL_CHUNK)
            size = Spill(handle, size);
        }
      if(size >= 0)
         size = Spill(handle, size);
      FileClose(handle);
      return(size);
     }

   // Everything of an entry.
   void              PutWhole(const OrderEntry &entry)
     {
      WriteEntryRecord(entry, m_writer);
      PutFresh();
      for(int i = 0; i < ArraySize(entry.legs); i++)
        {
         WriteLegRecord(entry.request.id, i, entry.legs[i], m_writer);
         PutFresh();
        }
      for(int i = 0; i < ArraySize(entry.results); i++)
        {
         WriteResultRecord(entry.results[i], m_writer);
         PutFresh();
        }
     }

   // Writes the new file's next bytes behind its first `size`; its size then, -1 if that failed.
   int               Spill(const int handle, const int size)
     {
      const int more = m_fresh.Size();
      ArrayResize(m_bytes, more);
      m_fresh.CopyTo(m_bytes, 0);
      m_fresh.Clear();
      if(FileWriteArray(handle, m_bytes, 0, more) != (uint)more)
         return(-1);
      FileFlush(handle);
      return((int)FileSize(handle) == size + more ? size + more : -1);
     }

   // Reads all records of a file of `size` bytes; what is behind `end` counts for nothing. A file
   // whose first write has failed has a mark in place of its header.
   bool              Load(OrderBook &book, int &end, int &size)
     {
      const int handle = FileOpen(m_path, FILE_READ | FILE_BIN);
      if(handle == INVALID_HANDLE)
         return(Fail("cannot read", m_path));
      uchar data[];
      const int length = (int)FileSize(handle);
      size = length > 0 ? (int)FileReadArray(handle, data) : 0;
      FileClose(handle);
      if(size != length)
         return(Fail("cannot read", m_path));
      if(size < JOURNAL_HEADER)
         return(true);
      m_reader.Open(data, 0, size);
      const uint low = m_reader.U4();
      const uint high = m_reader.U4();
      if(low == JOURNAL_MARK_LENGTH || (low == JOURNAL_MAGIC_LOW && high == JOURNAL_MARK_SUM))
         return(true);
      if(low != JOURNAL_MAGIC_LOW || high != JOURNAL_MAGIC_HIGH)
         return(Damaged(0));
      return(LoadRecords(data, size, book, end));
     }

   bool              LoadRecords(const uchar &data[], const int size, OrderBook &book, int &end)
     {
      end = JOURNAL_HEADER;
      while(end < size)
        {
         const int length = RecordLength(data, end, size);
         if(length < 0)
            return(Damaged(end));
         if(length == 0)
            break;
         m_reader.Open(data, end + JOURNAL_RECORD_HEAD, length);
         if(!TakeRecord(m_reader, book))
            return(Damaged(end));
         end += JOURNAL_RECORD_HEAD + length;
        }
      return(true);
     }

   // The length of the record at `at`, 0 if the file ends there, -1 if it is damaged.
   int               RecordLength(const uchar &data[], const int at, const int size)
     {
      const int payload = at + JOURNAL_RECORD_HEAD;
      if(size < payload || Zeros(data, payload, size))
         return(0);
      m_reader.Open(data, at, JOURNAL_RECORD_HEAD);
      const uint length = m_reader.U4();
      const uint sum = m_reader.U4();
      const bool possible = length > 0 && length < JOURNAL_RECORD_MAX;
      const int end = payload + (possible ? (int)length : 0);
      if(possible && end <= size && m_crc.Update(0, data, payload, (int)length) == sum)
         return((int)length);
      if(length == JOURNAL_MARK_LENGTH || sum == JOURNAL_MARK_SUM)
         return(0);
      return(possible && (end > size || Zeros(data, end, size)) ? 0 : -1);
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
