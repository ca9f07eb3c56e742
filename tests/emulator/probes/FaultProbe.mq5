// Makes, opens, moves and deletes a file each time its timer comes, and says what has failed.
#property version "1.00"

input string Name = "probe.bin";

int OnInit() { return EventSetMillisecondTimer(10) ? INIT_SUCCEEDED : INIT_FAILED; }

void OnDeinit(const int reason) { EventKillTimer(); }

void OnTimer()
  {
   ResetLastError();
   string failed = "";
   const int file = FileOpen(Name + ".new", FILE_WRITE | FILE_BIN);
   if(file == INVALID_HANDLE)
      failed = "open";
   else
     {
      FileWriteLong(file, 1);
      FileFlush(file);
      if(GetLastError() == 5026)
         failed = "write";
      FileClose(file);
      if(!FileMove(Name + ".new", 0, Name, FILE_REWRITE))
         failed += "move";
      else if(!FileDelete(Name))
         failed += "delete";
     }
   Print("failed: ", failed, " ", GetLastError());
  }
