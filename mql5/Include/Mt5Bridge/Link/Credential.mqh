//| User and password of the daemon, from the file that `mt5cep terminal install` writes.
#ifndef MT5BRIDGE_LINK_CREDENTIAL_MQH
#define MT5BRIDGE_LINK_CREDENTIAL_MQH

#include "Failures.mqh"
#include "SmallFile.mqh"

#define CREDENTIAL_FILE      "Mt5Bridge\\credential.txt"
#define CREDENTIAL_HEAD      "mt5bridge credential 1"

// Reads a file of three lines: what it is, `user NAME`, `password SECRET`.
LinkFailure ReadCredential(const string path, string &user, string &password)
  {
   const int handle = FileOpen(path, FILE_READ | FILE_BIN | FILE_SHARE_READ | FILE_SHARE_WRITE);
   if(handle == INVALID_HANDLE)
      return(LINK_NO_CREDENTIAL);
   const string text = SmallFileText(handle);
   FileClose(handle);
   int at = 0;
   string rest = "";
   if(TakeSmallFileLine(text, at, CREDENTIAL_HEAD, rest) && rest == ""
      && TakeSmallFileLine(text, at, "user ", user) && user != ""
      && TakeSmallFileLine(text, at, "password ", password) && password != ""
      && at == StringLen(text))
      return(LINK_NO_FAILURE);
   return(LINK_BAD_CREDENTIAL);
  }

#endif
