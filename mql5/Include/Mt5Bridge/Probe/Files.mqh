//| What files do: journals and ledgers outlive a crash only if it is this.
#ifndef MT5BRIDGE_PROBE_FILES_MQH
#define MT5BRIDGE_PROBE_FILES_MQH

#include "Facts.mqh"

#define PROBE_FOLDER   "Mt5Bridge\\probe\\"
#define PROBE_NAME_MAX 300

// As the ledger's lines: a record of fixed size.
struct ProbeRecord
  {
   long  number;
   ulong value;
   uint  kind;
   uint  check;
  };

// Writes a file of `count` equal bytes anew; whether all went.
bool ProbeWrite(const string name, const int count, const uchar value)
  {
   uchar bytes[];
   ArrayResize(bytes, count);
   ArrayInitialize(bytes, value);
   const int handle = FileOpen(PROBE_FOLDER + name, FILE_WRITE | FILE_BIN);
   if(handle == INVALID_HANDLE)
      return(false);
   const bool written = FileWriteArray(handle, bytes, 0, count) == (uint)count;
   FileClose(handle);
   return(written);
  }

// Reads a file whole; how many bytes it has, -1: it cannot be opened.
int ProbeRead(const string name, uchar &bytes[])
  {
   const int handle = FileOpen(PROBE_FOLDER + name, FILE_READ | FILE_BIN);
   if(handle == INVALID_HANDLE)
      return(-1);
   const int size = FileSize(handle) > 0 ? (int)FileReadArray(handle, bytes) : 0;
   FileClose(handle);
   return(size);
  }

// Whether a file holds `count` bytes, the first of which is `value`.
bool ProbeHolds(const string name, const int count, const uchar value)
  {
   uchar bytes[];
   return(ProbeRead(name, bytes) == count && bytes[0] == value);
  }

void ProbeMoves(ProbeFacts &facts)
  {
   ProbeWrite("new", 3, 1);
   ProbeWrite("old", 5, 2);
   ResetLastError();
   const bool moved = FileMove(PROBE_FOLDER + "new", 0, PROBE_FOLDER + "old", 0);
   facts.Whole("file.move_onto_file_error", GetLastError());
   facts.Truth("file.move_onto_file", moved);
   ProbeWrite("new", 3, 1);
   const bool replaced = FileMove(PROBE_FOLDER + "new", 0, PROBE_FOLDER + "old", FILE_REWRITE);
   facts.Truth("file.move_rewrite", replaced && ProbeHolds("old", 3, 1) && !FileIsExist(PROBE_FOLDER + "new"));
   FileDelete(PROBE_FOLDER + "free");
   facts.Truth("file.move_to_free_name", FileMove(PROBE_FOLDER + "old", 0, PROBE_FOLDER + "free", 0));
   ProbeWrite("new", 4, 3);
   const int handle = FileOpen(PROBE_FOLDER + "free", FILE_READ | FILE_WRITE | FILE_BIN);
   ResetLastError();
   facts.Truth("file.move_over_open", FileMove(PROBE_FOLDER + "new", 0, PROBE_FOLDER + "free", FILE_REWRITE));
   facts.Whole("file.move_over_open_error", GetLastError());
   FileClose(handle);
  }

void ProbeSharing(ProbeFacts &facts)
  {
   ProbeWrite("held", 4, 7);
   int handle = FileOpen(PROBE_FOLDER + "held", FILE_READ | FILE_WRITE | FILE_BIN);
   ResetLastError();
   int other = FileOpen(PROBE_FOLDER + "held", FILE_READ | FILE_BIN);
   facts.Truth("file.exclusive_by_default", other == INVALID_HANDLE);
   facts.Whole("file.held_error", GetLastError());
   FileClose(handle);
   if(other != INVALID_HANDLE)
      FileClose(other);
   handle = FileOpen(PROBE_FOLDER + "held", FILE_READ | FILE_WRITE | FILE_BIN | FILE_SHARE_READ);
   other = FileOpen(PROBE_FOLDER + "held", FILE_READ | FILE_BIN | FILE_SHARE_READ | FILE_SHARE_WRITE);
   facts.Truth("file.share_read", other != INVALID_HANDLE);
   if(other != INVALID_HANDLE)
     {
      FileSeek(handle, 0, SEEK_END);
      uchar more[3];
      ArrayInitialize(more, 8);
      FileWriteArray(handle, more, 0, 3);
      FileFlush(handle);
      uchar seen[];
      facts.Truth("file.flush_is_seen", FileReadArray(other, seen) == 7);
      FileClose(other);
     }
   FileClose(handle);
  }

void ProbeContents(ProbeFacts &facts)
  {
   ProbeWrite("kept", 5, 9);
   int handle = FileOpen(PROBE_FOLDER + "kept", FILE_READ | FILE_WRITE | FILE_BIN);
   uchar more[3];
   ArrayInitialize(more, 4);
   const bool sought = FileSeek(handle, 0, SEEK_END);
   FileWriteArray(handle, more, 0, 3);
   FileClose(handle);
   facts.Truth("file.append", sought && ProbeHolds("kept", 8, 9));
   FileClose(FileOpen(PROBE_FOLDER + "kept", FILE_WRITE | FILE_BIN));
   uchar none[];
   facts.Truth("file.write_empties", ProbeRead("kept", none) == 0);
   FileDelete(PROBE_FOLDER + "absent");
   ResetLastError();
   facts.Truth("file.read_absent", ProbeRead("absent", none) >= 0);
   facts.Whole("file.absent_error", GetLastError());
   handle = FileOpen(PROBE_FOLDER + "absent", FILE_READ | FILE_WRITE | FILE_BIN | FILE_SHARE_READ);
   facts.Truth("file.read_write_creates", handle != INVALID_HANDLE);
   FileClose(handle);
   ProbeWrite("torn", sizeof(ProbeRecord) + 10, 5);
   handle = FileOpen(PROBE_FOLDER + "torn", FILE_READ | FILE_BIN);
   ProbeRecord record;
   facts.Whole("file.read_struct", (long)FileReadStruct(handle, record));
   facts.Whole("file.read_struct_torn", (long)FileReadStruct(handle, record));
   FileClose(handle);
  }

// What became of bytes that were written to a name of the devices of old.
string ProbeDevice(const string name)
  {
   uchar bytes[];
   if(!ProbeWrite(name, 3, 6))
      return("refused");
   const string found = ProbeRead(name, bytes) == 3 ? "a file" : "swallowed";
   FileDelete(PROBE_FOLDER + name);
   return(found);
  }

// The longest name of a file, its folders in Files with it.
int ProbeLongestName(void)
  {
   string name = "";
   int good = 0;
   int bad = PROBE_NAME_MAX;
   while(bad - good > 1)
     {
      const int middle = (good + bad) / 2;
      name = "";
      while(StringLen(PROBE_FOLDER + name) < middle)
         name += "x";
      const bool fits = name != "" && ProbeWrite(name, 1, 1) && ProbeHolds(name, 1, 1);
      FileDelete(PROBE_FOLDER + name);
      if(fits || name == "")
         good = middle;
      else
         bad = middle;
     }
   return(good);
  }

void ProbeNames(ProbeFacts &facts)
  {
   ProbeWrite("Case", 1, 1);
   facts.Truth("file.case_insensitive", FileIsExist(PROBE_FOLDER + "cASE"));
   facts.Text("file.device_name", ProbeDevice("NUL"));
   facts.Text("file.device_name_with_type", ProbeDevice("NUL.DE"));
   facts.Whole("file.longest_name", ProbeLongestName());
  }

// All facts of files; what is written for them goes away again.
void ProbeFiles(ProbeFacts &facts)
  {
   ProbeMoves(facts);
   ProbeSharing(facts);
   ProbeContents(facts);
   ProbeNames(facts);
   FolderClean("Mt5Bridge\\probe");
   FolderDelete("Mt5Bridge\\probe");
  }

#endif
