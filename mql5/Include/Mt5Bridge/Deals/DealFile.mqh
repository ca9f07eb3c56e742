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
   ulong     m_checksum;    // of the last entry

public:
             DealFile(void) { m_file = INVALID_HANDLE; m_checksum = DEAL_FILE_SEED; }
            ~DealFile(void) { Shut(); }
   bool      Restore(const string path, const ResumeEntry &resume, DealHandler &handler);
   bool      Append(const DealRecord &deal, const ulong hash, const ulong sequence);
   void      Flush(void) { if(m_file != INVALID_HANDLE) FileFlush(m_file); }
   void      Shut(void);

private:
   bool      Open(const string path);
   int       ReadAll(DealEntry &entries[], const ulong last);
   bool      Follows(const DealEntry &entry, const DealEntry &entries[], const int count) const;
   bool      Fits(const DealEntry &entries[], const int count, const ResumeEntry &resume) const;
   void      Seek(const int entries);
   ulong     Checksum(const DealEntry &entry, const ulong before) const;
  };

// Tells the handler which revisions are on the daemon's disk, and stands behind them. False: the
// file does not know them, as it was lost or is another daemon's; it begins anew.
bool DealFile::Restore(const string path, const ResumeEntry &resume, DealHandler &handler)
  {
   Shut();
   m_checksum = DEAL_FILE_SEED;
   if(!Open(path))
      return resume.durable == 0;
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
bool DealFile::Append(const DealRecord &deal, const ulong hash, const ulong sequence)
  {
   if(m_file == INVALID_HANDLE)
      return false;
   DealEntry entry;
   entry.sequence = sequence;
   entry.ticket = deal.ticket;
   entry.time_msc = deal.time_msc;
   entry.hash = hash;
   entry.revision = deal.revision;
   entry.kind = deal.kind;
   entry.checksum = Checksum(entry, m_checksum);
   if(FileWriteStruct(m_file, entry) != sizeof(DealEntry))
      return false;
   m_checksum = entry.checksum;
   return true;
  }

void DealFile::Shut(void)
  {
   if(m_file != INVALID_HANDLE)
      FileClose(m_file);
   m_file = INVALID_HANDLE;
  }

bool DealFile::Open(const string path)
  {
   m_file = FileOpen(path, FILE_READ | FILE_WRITE | FILE_BIN | FILE_SHARE_READ);
   if(m_file == INVALID_HANDLE)
      PrintFormat("%s cannot be opened (error %d): after a restart deal revisions may be told again or missed", path, GetLastError());
   return m_file != INVALID_HANDLE;
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

void DealFile::Seek(const int entries)
  {
   FileSeek(m_file, (long)entries * sizeof(DealEntry), SEEK_SET);
  }

ulong DealFile::Checksum(const DealEntry &entry, const ulong before) const
  {
   ulong sum = HashWord(HashWord(before, entry.sequence), entry.ticket);
   sum = HashWord(HashWord(sum, (ulong)entry.time_msc), entry.hash);
   return HashWord(HashWord(sum, (ulong)entry.revision), (ulong)entry.kind);
  }

#endif
