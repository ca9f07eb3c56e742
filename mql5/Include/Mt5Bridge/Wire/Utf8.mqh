//| UTF-8 as RFC 3629 has it: which bytes are a text, and where a text may be cut.
#ifndef MT5BRIDGE_WIRE_UTF8_MQH
#define MT5BRIDGE_WIRE_UTF8_MQH

// How many bytes the code point that begins with `lead` has; 0 if none begins so.
int Utf8Length(const uchar lead)
  {
   if(lead < 0x80)
      return(1);
   if(lead >= 0xC2 && lead <= 0xDF)
      return(2);
   if(lead >= 0xE0 && lead <= 0xEF)
      return(3);
   if(lead >= 0xF0 && lead <= 0xF4)
      return(4);
   return(0);
  }

// The code point of `length` bytes at `at`; -1 if overlong, a surrogate, too large or cut by `end`.
int Utf8CodePoint(const uchar &data[], const int at, const int length, const int end)
  {
   if(length == 0 || at + length > end)
      return(-1);
   if(length == 1)
      return((int)data[at]);
   int point = (int)data[at] & (0x7F >> length);
   for(int i = 1; i < length; i++)
     {
      if((data[at + i] & 0xC0) != 0x80)
         return(-1);
      point = (point << 6) | ((int)data[at + i] & 0x3F);
     }
   if(length == 3 && (point < 0x800 || (point >= 0xD800 && point <= 0xDFFF)))
      return(-1);
   if(length == 4 && (point < 0x10000 || point > 0x10FFFF))
      return(-1);
   return(point);
  }

// Whether `size` bytes at `from` are UTF-8 without U+0000.
bool Utf8Valid(const uchar &data[], const int from, const int size)
  {
   const int end = from + size;
   int at = from;
   while(at < end)
     {
      const int length = Utf8Length(data[at]);
      if(Utf8CodePoint(data, at, length, end) <= 0)
         return(false);
      at += length;
     }
   return(true);
  }

// How many of the first `size` bytes, at most `bytes_max`, end between two code points.
int Utf8Cut(const uchar &data[], const int size, const int bytes_max)
  {
   if(size <= bytes_max)
      return(size);
   int cut = bytes_max;
   while(cut > 0 && (data[cut] & 0xC0) == 0x80)
      cut--;
   return(cut);
  }

// The bytes of `text` without a terminating zero; returns how many there are.
int Utf8Bytes(const string text, uchar &bytes[])
  {
   ArrayResize(bytes, 0, 64);
   if(StringLen(text) == 0)
      return(0);
   int size = StringToCharArray(text, bytes, 0, -1, CP_UTF8);
   while(size > 0 && bytes[size - 1] == 0)
      size--;
   for(int i = 0; i < size; i++)
      if(bytes[i] == 0)
         bytes[i] = '?';
   return(size);
  }

// The text of `size` bytes at `from`, which are UTF-8 without zeros.
string Utf8Text(const uchar &data[], const int from, const int size)
  {
   return(size == 0 ? "" : CharArrayToString(data, from, size, CP_UTF8));
  }

// Whether a code point shows nothing or breaks a line (PROTOCOL.md 2.1: what is not printable).
bool Utf8Invisible(const int point)
  {
   if(point < 0x20 || (point >= 0x7F && point <= 0xA0) || point == 0xAD)
      return(true);
   if(point < 0x2000)
      return(false);
   return(point <= 0x200F || (point >= 0x2028 && point <= 0x202F)
          || (point >= 0x205F && point <= 0x206F) || point == 0x3000
          || (point >= 0xE000 && point <= 0xF8FF) || point == 0xFEFF
          || (point >= 0xFFF9 && point <= 0xFFFB));
  }

// Whether every code point of `size` valid bytes can be seen.
bool Utf8Printable(const uchar &data[], const int size)
  {
   int at = 0;
   while(at < size)
     {
      const int length = Utf8Length(data[at]);
      if(length == 0 || Utf8Invisible(Utf8CodePoint(data, at, length, size)))
         return(false);
      at += length;
     }
   return(true);
  }

#endif
