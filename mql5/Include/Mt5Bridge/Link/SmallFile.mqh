//| Files of a few lines, each a word and what it says, which the installer or a program has written.
#ifndef MT5BRIDGE_LINK_SMALL_FILE_MQH
#define MT5BRIDGE_LINK_SMALL_FILE_MQH

#include "../Wire/Utf8.mqh"

#define SMALL_FILE_BYTES_MAX 1024

// The bytes of a small file as text; "" if they are none. A longer file is none of ours.
string SmallFileText(const int handle)
  {
   uchar bytes[];
   const int size = (int)FileReadArray(handle, bytes, 0, SMALL_FILE_BYTES_MAX + 1);
   if(size < 1 || size > SMALL_FILE_BYTES_MAX || !Utf8Valid(bytes, 0, size))
      return("");
   return(Utf8Text(bytes, 0, size));
  }

// Takes a whole line that begins with `head`; `value` is the rest of it, `at` the next line's begin.
bool TakeSmallFileLine(const string text, int &at, const string head, string &value)
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

#endif
