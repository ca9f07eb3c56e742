// Writes that a crash finds at different stages.
void OnStart(void)
  {
   const int file = FileOpen("crash.bin", FILE_WRITE | FILE_BIN);
   FileWriteLong(file, 1);
   FileWriteLong(file, 2);
   FileFlush(file);
   FileWriteLong(file, 3);
   FileFlush(file);
   FileWriteLong(file, 4);
   FileClose(file);
  }
