//| The folder of an identity's files, which hold what one account did and mean nothing to another.
#ifndef MT5BRIDGE_ACCOUNT_FOLDER
#define MT5BRIDGE_ACCOUNT_FOLDER

#include "Account.mqh"
#include "Link/SmallFile.mqh"
#include "WaitReason.mqh"
#include "Wire/Checks.mqh"

#define ACCOUNT_FILE         "\\account.txt"
#define ACCOUNT_HEAD         "mt5bridge account 1"
#define ACCOUNT_LOOK_MS      1000   // between looks at a file that is held

// Where an identity has its files, whatever its account.
string IdentityFolder(const string identity)
  {
   return "Mt5Bridge\\" + SafeFileName(identity);
  }

// An identity that the user has chosen stays when the terminal logs in to another account. Its folder
// is the first account's, which is kept in a file there; others get folders of their own.
class AccountFolder
  {
private:
   string m_name;
   string m_path;
   WaitReason m_reason;
   long   m_look_ms;

public:
          AccountFolder(void) { Forget(); }
   void   Forget(void);
   bool   Known(void);
   bool   Open(const string identity);
   string Name(void) const { return m_name; }   // the identity; of another account: IDENTITY/ACCOUNT@SERVER
   string Path(void) const { return m_path; }

private:
   void   Enter(const string name);
   bool   Owner(const string path, string &owner);
   bool   Claim(const string path) const;
  };

void AccountFolder::Forget(void)
  {
   m_name = m_path = "";
   m_reason.Forget();
   m_look_ms = 0;
  }

// Whether the terminal knows its account.
bool AccountFolder::Known(void)
  {
   return AccountKnown() || m_reason.Wait("waiting until the terminal knows its account");
  }

// Whether it is there; if not, why is printed, and it is to be asked again. An identity that is none
// has no folder: the session says what is wrong with it.
bool AccountFolder::Open(const string identity)
  {
   m_name = identity;
   if(!NameAllowed(identity, IDENTITY_BYTES_MAX))
      return true;
   const string account = DefaultIdentity("");
   Enter(identity);
   string owner = account;
   if(identity != account && StringFind(identity, account + "/") != 0 && !Owner(m_path + ACCOUNT_FILE, owner))
      return false;
   if(owner == account)
      return true;
   Enter(identity + "/" + account);
   PrintFormat("%s is account %s: what is known of %s lies in Files\\%s", identity, owner, account, m_path);
   return true;
  }

// Whose files these are, and where; the folder is there from now on.
void AccountFolder::Enter(const string name)
  {
   m_name = name;
   m_path = IdentityFolder(name);
   FolderCreate(m_path);
  }

// The account that came first; that is this one where there was none.
bool AccountFolder::Owner(const string path, string &owner)
  {
   if((long)GetTickCount64() < m_look_ms)
      return false;
   m_look_ms = (long)GetTickCount64() + ACCOUNT_LOOK_MS;
   if(!FileIsExist(path) && !Claim(path))
      return m_reason.Wait(StringFormat("waiting for Files\\%s (error %d): another program uses it, the disk is full, or the identity is too long", path, GetLastError()));
   const int handle = FileOpen(path, FILE_READ | FILE_BIN | FILE_SHARE_READ);
   if(handle == INVALID_HANDLE)
      return m_reason.Wait(StringFormat("waiting for Files\\%s (error %d): another program uses it", path, GetLastError()));
   const string text = SmallFileText(handle);
   FileClose(handle);
   int at = 0;
   string rest = "";
   if(TakeSmallFileLine(text, at, ACCOUNT_HEAD, rest) && rest == "" && TakeSmallFileLine(text, at, "account ", owner) && owner != "")
      return true;
   return m_reason.Wait("Files\\" + path + " is damaged: write \"" + ACCOUNT_HEAD + "\" into its first line, and into the second \"account \" and the LOGIN@SERVER whose files these are");
  }

// All at once or not at all.
bool AccountFolder::Claim(const string path) const
  {
   uchar bytes[];
   const int size = Utf8Bytes(ACCOUNT_HEAD + "\naccount " + DefaultIdentity("") + "\n", bytes);
   const int handle = FileOpen(path + ".new", FILE_WRITE | FILE_BIN);
   if(handle == INVALID_HANDLE)
      return false;
   const bool written = FileWriteArray(handle, bytes, 0, size) == (uint)size;
   FileFlush(handle);
   FileClose(handle);
   return written && FileMove(path + ".new", 0, path, FILE_REWRITE);
  }

#endif
