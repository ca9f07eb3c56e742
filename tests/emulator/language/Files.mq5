// Files below the Files folder only; buffers, sharing, folders, global variables of the terminal.
struct Record
  {
   long   number;
   double value;
  };

void Binary(void)
  {
   const int file = FileOpen("Mt5Bridge\\test.bin", FILE_READ | FILE_WRITE | FILE_BIN);
   Record record = {5, 0.25};
   uchar bytes[] = {1, 2, 3};
   Print(FileWriteStruct(file, record));
   Print(FileWriteArray(file, bytes));
   FileWriteLong(file, -7);
   FileWriteInteger(file, 258, 2);
   FileWriteDouble(file, 1.5);
   Print(FileSize(file), " ", FileTell(file));
   FileSeek(file, 0, SEEK_SET);
   Record back;
   uchar read[];
   FileReadStruct(file, back);
   Print(back.number, " ", back.value);
   FileReadArray(file, read, 0, 3);
   Print(ArraySize(read), " ", read[2]);
   Print(FileReadLong(file));
   Print(FileReadInteger(file, 2));
   Print(FileReadDouble(file));
   Print(FileIsEnding(file));
   FileSeek(file, -8, SEEK_END);
   FileWriteDouble(file, 2.5);
   FileSeek(file, -8, SEEK_CUR);
   Print(FileReadDouble(file), " ", FileSize(file));
   if(FileOpen("Mt5Bridge\\test.bin", FILE_READ | FILE_BIN) == INVALID_HANDLE)
      Print("open already: ", GetLastError());
   if(!FileDelete("Mt5Bridge\\test.bin"))
      Print("still open: ", GetLastError());
   FileFlush(file);
   FileClose(file);
   ResetLastError();
   Print(FileIsExist("Mt5Bridge\\test.bin"));
   Print(FileMove("Mt5Bridge\\test.bin", 0, "b.bin", 0));
   Print(FileIsExist("Mt5Bridge\\test.bin"), " ", FileIsExist("b.bin"));
   Print(FileDelete("b.bin"));
   Print(FileIsExist("b.bin"));
  }

void Text(void)
  {
   int file = FileOpen("notes.txt", FILE_WRITE | FILE_TXT | FILE_ANSI, 0, CP_UTF8);
   Print(FileWriteString(file, "\x00e4 line\r\n"));
   Print(FileWrite(file, "two", 2, 2.5));
   FileClose(file);
   file = FileOpen("notes.txt", FILE_READ | FILE_TXT | FILE_ANSI, 0, CP_UTF8);
   Print(FileReadString(file));
   Print(FileReadString(file));
   Print(FileIsEnding(file));
   FileClose(file);
   file = FileOpen("wide.txt", FILE_WRITE | FILE_TXT);
   FileWriteString(file, "ab");
   Print(FileSize(file));
   FileClose(file);
   file = FileOpen("table.csv", FILE_WRITE | FILE_CSV | FILE_ANSI, ';');
   FileWriteString(file, "a;b\r\nc\r\n");
   FileClose(file);
   file = FileOpen("table.csv", FILE_READ | FILE_CSV | FILE_ANSI, ';');
   while(!FileIsEnding(file))
     {
      const string field = FileReadString(file);
      Print(field, FileIsLineEnding(file) ? " ends its line" : "");
     }
   FileClose(file);
  }

void Refused(void)
  {
   ResetLastError();
   if(FileOpen("..\\outside.bin", FILE_WRITE | FILE_BIN) == INVALID_HANDLE)
      Print("outside: ", GetLastError());
   if(FileOpen("missing.bin", FILE_READ | FILE_BIN) == INVALID_HANDLE)
      Print("missing: ", GetLastError());
   if(FileReadLong(99) == 0)
      Print("no handle: ", GetLastError());
   const int file = FileOpen("write only.bin", FILE_WRITE | FILE_BIN | FILE_COMMON);
   if(FileReadLong(file) == 0)
      Print("not to read: ", GetLastError());
   Print(FileIsExist("write only.bin", FILE_COMMON));
   FileClose(file);
  }

void Found(void)
  {
   string name = "";
   const long search = FileFindFirst("*.txt", name);
   Print(name);
   while(FileFindNext(search, name))
      Print(name);
   FileFindClose(search);
   Print(FolderCreate("deep\\er"));
   Print(FolderDelete("deep"));
   Print(FolderClean("deep"));
   Print(FolderDelete("deep"));
  }

// A name is what Windows makes of it.
void Names(void)
  {
   const int file = FileOpen("Case\\EURUSDm.bin", FILE_WRITE | FILE_BIN);
   FileWriteLong(file, 1);
   if(FileOpen("case\\eurusdM.BIN", FILE_READ | FILE_BIN) == INVALID_HANDLE)
      Print("the same file, open: ", GetLastError());
   FileClose(file);
   string found = "";
   FileFindClose(FileFindFirst("CASE\\*.BIN", found));
   Print(FileIsExist("CASE\\EURUSDM.bin"), " ", found);
   const bool there = FileIsExist("Case\\EURUSDm.bin. .");
   Print(there, " ", FileDelete("case\\EURUSDM.BIN "));
   const string refused[] = {"CON", "nul.txt", "Com1.DE", "LPT9 .x\\a.bin", "AUX\\a.bin", "a<b", "a|b",
                             "a:b", "a\"b", "a?b", "a*b", "tab\t", "..", "x\\...\\y"};
   for(int i = 0; i < ArraySize(refused); i++)
      if(FileOpen(refused[i], FILE_WRITE | FILE_BIN) != INVALID_HANDLE || GetLastError() != 5002)
         Print(refused[i], " is accepted");
   string path = "deep";
   while(StringLen(path) <= 150)
      path += "\\folder";
   if(FileOpen(path, FILE_WRITE | FILE_BIN) == INVALID_HANDLE)
      Print("too long: ", GetLastError());
   const int port = FileOpen("COM10.DE", FILE_WRITE | FILE_BIN);
   Print(port != INVALID_HANDLE);
   FileClose(port);
  }

void Globals(void)
  {
   Print(GlobalVariableCheck("halt"));
   GlobalVariableSet("halt", 1.5);
   Print(GlobalVariableCheck("halt"));
   Print(GlobalVariableGet("halt"));
   Print(GlobalVariableSetOnCondition("halt", 3, 1.5));
   Print(GlobalVariableSetOnCondition("halt", 4, 1.5));
   double value = 0;
   Print(GlobalVariablesTotal(), " ", GlobalVariableName(0), " ", GlobalVariableGet("halt"));
   if(!GlobalVariableGet("none", value))
      Print("none: ", GetLastError());
   GlobalVariableDel("halt");
   Print(GlobalVariablesTotal());
  }

void OnStart(void)
  {
   Binary();
   Text();
   Refused();
   Found();
   Names();
   Globals();
  }
