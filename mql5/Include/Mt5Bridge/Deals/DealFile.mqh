//| Which deal revisions have which number: written before they are sent, read after a restart.
#ifndef MT5BRIDGE_DEALS_DEAL_FILE
#define MT5BRIDGE_DEALS_DEAL_FILE

#include "DealHandler.mqh"

#define DEAL_FILE_SEED 0x314C4435424D  // "MB5DL1"

// Each entry's checksum goes on from that of the one before: a torn or left-over tail never fits.
struct DealEntry
  {
   ulong sequence;
   ulong ticket;
   long  time_msc;
   ulong hash;
   uint  revision;
   uint  kind;
   ulong checksum;
  };

class DealFile
  {
private:
   int       m_file;
   int       m_count;       // of entries in the file
   DealEntry m_waiting[];   // to be written behind them
   ulong     m_checksum;    // of the last entry

public:
             DealFile(void) { m_file = INVALID_HANDLE; m_count = 0; m_checksum = DEAL_FILE_SEED; }
            ~DealFile(void) { Shut(); }
   bool      Open(const string path);
   bool      Restore(const ResumeEntry &resume, DealHandler &handler);
   void      Append(const DealRecord &deal, const ulong hash, const ulong sequence);
   bool      Flush(void);
   void      Shut(void);

private:
   int       ReadAll(DealEntry &entries[], const ulong last);
   bool      Follows(const DealEntry &entry, const DealEntry &entries[], const int count) const;
   bool      Fits(const DealEntry &entries[], const int count, const ResumeEntry &resume) const;
   bool      Seek(const int entries);
   ulong     Checksum(const DealEntry &entry, const ulong before) const;
  };

// False while it cannot be opened, as a virus scanner or a backup may hold it, or the disk is full.
bool DealFile::Open(const string path)
  {
   Shut();
   ArrayResize(m_waiting, 0, 256);
   m_file = FileOpen(path, FILE_READ | FILE_WRITE | FILE_BIN | FILE_SHARE_READ);
   return m_file != INVALID_HANDLE;
  }

// Tells the handler which revisions are on the daemon's disk, and stands behind them. False: the
// file does not know them, as it was lost or is another daemon's; it begins anew.
bool DealFile::Restore(const ResumeEntry &resume, DealHandler &handler)
  {
   DealEntry entries[];
   int count = ReadAll(entries, resume.durable);
   bool fits = Fits(entries, count, resume);
   if(!fits)
      count = 0;
   for(int i = 0; i < count; i++)
     {
      DealRecord deal;
      ZeroMemory(deal);
      deal.ticket = entries[i].ticket;
      deal.time_msc = entries[i].time_msc;
      deal.revision = entries[i].revision;
      deal.kind = entries[i].kind;
      handler.Know(deal, entries[i].hash);
     }
   m_checksum = count > 0 ? entries[count - 1].checksum : DEAL_FILE_SEED;
   Seek(count);
   return fits;
  }

// To be flushed before the record is sent.
void DealFile::Append(const DealRecord &deal, const ulong hash, const ulong sequence)
  {
   DealEntry entry;
   entry.sequence = sequence;
   entry.ticket = deal.ticket;
   entry.time_msc = deal.time_msc;
   entry.hash = hash;
   entry.revision = deal.revision;
   entry.kind = deal.kind;
   entry.checksum = Checksum(entry, m_checksum);
   m_checksum = entry.checksum;
   const int size = ArraySize(m_waiting);
   ArrayResize(m_waiting, size + 1, MathMax(256, size));
   m_waiting[size] = entry;
  }

// Whether everything is on the disk now; else it waits for the next time. Writes wait in a buffer and
// FileFlush() returns nothing: the error and the file's size tell.
bool DealFile::Flush(void)
  {
   const int size = ArraySize(m_waiting);
   if(size == 0)
      return true;
   ResetLastError();
   if(!Seek(m_count) || FileWriteArray(m_file, m_waiting, 0, size) != (uint)size)
      return false;
   FileFlush(m_file);
   if(GetLastError() == ERR_FILE_WRITEERROR || FileSize(m_file) < FileTell(m_file))
      return false;
   m_count += size;
   ArrayResize(m_waiting, 0, 256);
   return true;
  }

void DealFile::Shut(void)
  {
   if(m_file != INVALID_HANDLE)
      FileClose(m_file);
   m_file = INVALID_HANDLE;
  }

// The entries that follow one another without damage, up to number `last`.
int DealFile::ReadAll(DealEntry &entries[], const ulong last)
  {
   int count = 0;
   ulong checksum = DEAL_FILE_SEED;
   DealEntry entry;
   while(FileReadStruct(m_file, entry) == sizeof(DealEntry))
     {
      if(!Follows(entry, entries, count) || entry.checksum != Checksum(entry, checksum) || entry.sequence > last)
         break;
      checksum = entry.checksum;
      ArrayResize(entries, count + 1, MathMax(4096, count));
      entries[count++] = entry;
     }
   return count;
  }

// Numbers go up one by one; several with one number are what was assumed when the file was lost.
bool DealFile::Follows(const DealEntry &entry, const DealEntry &entries[], const int count) const
  {
   if(count == 0)
      return true;
   ulong before = entries[count - 1].sequence;
   return entry.sequence == before || entry.sequence == before + 1;
  }

// Whether these entries are what the daemon has: as many, and with the same newest time.
bool DealFile::Fits(const DealEntry &entries[], const int count, const ResumeEntry &resume) const
  {
   if(resume.durable == 0)
      return true;
   if(count == 0 || entries[count - 1].sequence != resume.durable)
      return false;
   long newest = 0;
   int at_newest = 0;
   for(int i = 0; i < count; i++)
     {
      if(entries[i].time_msc > newest)
        {
         newest = entries[i].time_msc;
         at_newest = 0;
        }
      if(entries[i].time_msc == newest)
         at_newest++;
     }
   return newest == resume.time_msc && at_newest == (int)resume.count_at_msc;
  }

bool DealFile::Seek(const int entries)
  {
   m_count = entries;
   return FileSeek(m_file, (long)entries * sizeof(DealEntry), SEEK_SET);
  }

ulong DealFile::Checksum(const DealEntry &entry, const ulong before) const
  {
   ulong sum = HashWord(HashWord(before, entry.sequence), entry.ticket);
   sum = HashWord(HashWord(sum, (ulong)entry.time_msc), entry.hash);
   return HashWord(HashWord(sum, (ulong)entry.revision), (ulong)entry.kind);
  }

#endif
