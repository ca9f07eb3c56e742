//| A ledger on disk, written as it grows: after a crash it is known what was sent.
#ifndef MT5BRIDGE_MARKET_LEDGER_FILE
#define MT5BRIDGE_MARKET_LEDGER_FILE

#include "TickLedger.mqh"

#define LEDGER_SEED 0x314C4435424D     // "MB5DL1": another layout gets another number
#define LEDGER_SAVED 32768             // closed ticks kept when the file is written anew
#define LEDGER_LINES_MAX 131072        // then it is written anew

enum LedgerKind
  {
   LEDGER_BEGIN,   // msc: everything from there on is in the file; value: number of the first tick
   LEDGER_CLOSED,  // msc: compared with the tick base up to there
   LEDGER_CURSOR,  // msc: where the pump stands; value: ticks taken of that millisecond
   LEDGER_TICK,    // msc, value: time and content of a tick that moved the cursor
   LEDGER_LATE     // of one that did not
  };

// Each line's check goes on from that of the one before: a torn or left-over tail never fits.
struct LedgerLine
  {
   long  msc;
   ulong value;
   uint  kind;
   uint  check;
  };

// Where the pump stood when the last line was written.
struct LedgerPlace
  {
   long  msc;
   int   count_at_msc;
  };

class LedgerFile
  {
private:
   string     m_path;
   bool       m_appends;    // else the file is only written anew
   int        m_file;
   ulong      m_check;
   int        m_lines;      // in the file
   int        m_kept;       // of them, when it was written anew
   bool       m_held;       // it is there, and cannot be opened
   LedgerLine m_pending[];  // to be written
   int        m_count;

public:
              LedgerFile(void);
             ~LedgerFile(void) { Shut(); }
   void       Name(const string path, const bool appends) { m_path = path; m_appends = appends; }
   bool       Appends(void) const { return m_appends; }
   bool       Load(TickLedger &ledger, LedgerPlace &place);
   bool       Held(void) const { return m_held; }
   bool       Rewrite(const TickLedger &ledger, const LedgerPlace &place, const ulong durable);
   bool       Full(void) const { return m_lines + m_count > MathMax(LEDGER_LINES_MAX, 2 * m_kept); }
   void       Took(const TickLedger &ledger, const int count, const bool late);
   void       Closed(const long open_msc);
   bool       Flush(void);
   void       Shut(void);

private:
   void       Fill(const TickLedger &ledger, const LedgerPlace &place, const ulong durable);
   bool       Replace(void);
   bool       GoOn(void);
   void       Add(const LedgerKind kind, const long msc, const ulong value);
   uint       Check(const LedgerLine &line);
   bool       Apply(const LedgerLine &line, TickLedger &ledger, LedgerPlace &place) const;
  };

LedgerFile::LedgerFile(void)
  {
   m_path = "";
   m_file = INVALID_HANDLE;
   m_check = LEDGER_SEED;
   m_lines = m_kept = m_count = 0;
   m_appends = true;
   m_held = false;
  }

// What an earlier run has written, up to the first damage; false when there is nothing, or when the
// file is held by somebody.
bool LedgerFile::Load(TickLedger &ledger, LedgerPlace &place)
  {
   place.msc = 0;
   place.count_at_msc = 0;
   m_held = false;
   if(m_path == "" || !FileIsExist(m_path))
      return false;
   int file = FileOpen(m_path, FILE_READ | FILE_BIN | FILE_SHARE_READ);
   m_held = file == INVALID_HANDLE;
   if(m_held)
      return false;
   bool begun = false;
   LedgerLine line;
   m_check = LEDGER_SEED;
   while(FileReadStruct(file, line) == sizeof(LedgerLine) && line.check == Check(line))
     {
      if(!begun && line.kind != LEDGER_BEGIN)
         break;
      begun = true;
      if(!Apply(line, ledger, place))
         break;
     }
   FileClose(file);
   return begun;
  }

bool LedgerFile::Apply(const LedgerLine &line, TickLedger &ledger, LedgerPlace &place) const
  {
   if(line.kind == LEDGER_BEGIN)
     {
      ledger.Begin(line.value, line.msc, line.msc);
      place.msc = line.msc;
      place.count_at_msc = 0;
     }
   else if(line.kind == LEDGER_CLOSED)
      ledger.Close(line.msc, 0);  // nothing is forgotten: the daemon may have less
   else if(line.kind == LEDGER_CURSOR)
     {
      place.msc = line.msc;
      place.count_at_msc = (int)line.value;
     }
   else if(line.kind == LEDGER_TICK || line.kind == LEDGER_LATE)
     {
      ledger.TakeHash(line.msc, line.value);
      if(line.kind == LEDGER_TICK && line.msc >= place.msc)
        {
         place.count_at_msc = line.msc == place.msc ? place.count_at_msc + 1 : 1;
         place.msc = line.msc;
        }
     }
   else
      return false;
   return true;
  }

// Replaces the file as a whole: a crash leaves the old one or the new one. Of what may be forgotten
// only the last ticks are kept. When it cannot be replaced, the old one goes on, if it is whole.
bool LedgerFile::Rewrite(const TickLedger &ledger, const LedgerPlace &place, const ulong durable)
  {
   if(m_path == "")
      return true;
   const bool whole = Flush();
   const int lines = m_lines;
   const ulong check = m_check;
   Shut();
   Fill(ledger, place, durable);
   if(Replace())
      return !m_appends || GoOn();
   m_lines = lines;
   m_check = check;
   return whole && m_appends && GoOn();
  }

// All that is to be written anew is pending.
void LedgerFile::Fill(const TickLedger &ledger, const LedgerPlace &place, const ulong durable)
  {
   m_count = m_lines = 0;
   m_check = LEDGER_SEED;
   long known_msc = ledger.KnownMsc();
   int skipped = ledger.Forgettable(LEDGER_SAVED, durable);
   for(int i = 0; i < skipped; i++)
      known_msc = MathMax(known_msc, ledger.MscAt(i) + 1);
   Add(LEDGER_BEGIN, known_msc, ledger.First() + (ulong)skipped);
   Add(LEDGER_CLOSED, ledger.OpenMsc(), 0);
   for(int i = skipped; i < ledger.Count(); i++)
      Add(LEDGER_LATE, ledger.MscAt(i), ledger.HashAt(i));
   Add(LEDGER_CURSOR, place.msc, (ulong)place.count_at_msc);
  }

// What is pending becomes the file.
bool LedgerFile::Replace(void)
  {
   m_file = FileOpen(m_path + ".new", FILE_WRITE | FILE_BIN);
   const bool written = Flush();
   m_count = 0;
   Shut();
   if(!written || !FileMove(m_path + ".new", 0, m_path, FILE_REWRITE))
      return false;
   m_kept = m_lines;
   return true;
  }

// Stands at the end of the file.
bool LedgerFile::GoOn(void)
  {
   m_file = FileOpen(m_path, FILE_READ | FILE_WRITE | FILE_BIN | FILE_SHARE_READ);
   return m_file != INVALID_HANDLE && FileSeek(m_file, 0, SEEK_END);
  }

// The newest `count` ticks of the ledger were taken.
void LedgerFile::Took(const TickLedger &ledger, const int count, const bool late)
  {
   if(m_file == INVALID_HANDLE)
      return;
   for(int i = ledger.Count() - count; i < ledger.Count(); i++)
      Add(late ? LEDGER_LATE : LEDGER_TICK, ledger.MscAt(i), ledger.HashAt(i));
  }

// The ledger was compared with the tick base up to there.
void LedgerFile::Closed(const long open_msc)
  {
   if(m_file != INVALID_HANDLE)
      Add(LEDGER_CLOSED, open_msc, 0);
  }

void LedgerFile::Add(const LedgerKind kind, const long msc, const ulong value)
  {
   if(m_count == ArraySize(m_pending))
      ArrayResize(m_pending, MathMax(256, 2 * m_count));
   m_pending[m_count].msc = msc;
   m_pending[m_count].value = value;
   m_pending[m_count].kind = (uint)kind;
   m_pending[m_count].check = Check(m_pending[m_count]);
   m_count++;
  }

// Hands what is pending to the system; false when that fails: then nothing more is written. Writes
// wait in a buffer and FileFlush() returns nothing: the error and the file's size tell.
bool LedgerFile::Flush(void)
  {
   if(m_file == INVALID_HANDLE || m_count == 0)
      return m_path == "" || m_file != INVALID_HANDLE;
   ResetLastError();
   bool written = FileWriteArray(m_file, m_pending, 0, m_count) == (uint)m_count;
   m_lines += m_count;
   m_count = 0;
   FileFlush(m_file);
   written = written && GetLastError() != ERR_FILE_WRITEERROR && FileSize(m_file) >= FileTell(m_file);
   if(!written)
      Shut();
   return written;
  }

void LedgerFile::Shut(void)
  {
   if(m_file != INVALID_HANDLE)
      FileClose(m_file);
   m_file = INVALID_HANDLE;
  }

uint LedgerFile::Check(const LedgerLine &line)
  {
   m_check = HashWord(HashWord(HashWord(m_check, (ulong)line.msc), line.value), (ulong)line.kind);
   return (uint)(m_check >> 32);
  }

#endif
