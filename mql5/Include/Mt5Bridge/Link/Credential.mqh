//| User and password of the daemon, from the file that `mt5cep terminal install` writes.
#ifndef MT5BRIDGE_LINK_CREDENTIAL_MQH
#define MT5BRIDGE_LINK_CREDENTIAL_MQH

#include "../Wire/Utf8.mqh"
#include "Failures.mqh"

#define CREDENTIAL_FILE      "Mt5Bridge\\credential.txt"
#define CREDENTIAL_HEAD      "mt5bridge credential 1"
#define CREDENTIAL_BYTES_MAX 1024

// The bytes of a small file as text; "" if they are none. A longer file is none of ours.
string CredentialText(const int handle)
  {
   uchar bytes[];
   const int size = (int)FileReadArray(handle, bytes, 0, CREDENTIAL_BYTES_MAX + 1);
   if(size < 1 || size > CREDENTIAL_BYTES_MAX || !Utf8Valid(bytes, 0, size))
      return("");
   return(Utf8Text(bytes, 0, size));
  }

// Takes a whole line that begins with `head`; `value` is the rest of it, `at` the next line's begin.
bool TakeCredentialLine(const string text, int &at, const string head, string &value)
  {
   int end = StringFind(text, "\n", at);
   const int next = end + 1;
   if(end > at && StringGetCharacter(text, end - 1) == '\r')
      end--;
   const int length = end - at - StringLen(head);
   if(length < 0 || StringSubstr(text, at, StringLen(head)) != head)
      return(false);
   value = length == 0 ? "" : StringSubstr(text, at + StringLen(head), length);
   at = next;
   return(true);
  }

// Reads a file of three lines: what it is, `user NAME`, `password SECRET`.
LinkFailure ReadCredential(const string path, string &user, string &password)
  {
   const int handle = FileOpen(path, FILE_READ | FILE_BIN | FILE_SHARE_READ | FILE_SHARE_WRITE);
   if(handle == INVALID_HANDLE)
      return(LINK_NO_CREDENTIAL);
   const string text = CredentialText(handle);
   FileClose(handle);
   int at = 0;
   string rest = "";
   if(TakeCredentialLine(text, at, CREDENTIAL_HEAD, rest) && rest == ""
      && TakeCredentialLine(text, at, "user ", user) && user != ""
      && TakeCredentialLine(text, at, "password ", password) && password != ""
      && at == StringLen(text))
      return(LINK_NO_FAILURE);
   return(LINK_BAD_CREDENTIAL);
  }

#endif
