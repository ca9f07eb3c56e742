// Strings: values, NULL, conversions, functions, formats.
void Grow(string &text) { text += "!"; }

void OnStart(void)
  {
   string empty = "", nothing = NULL;
   Print(empty == NULL, " ", nothing == NULL, " ", nothing == "", " ", StringLen(nothing));
   string a = "abc";
   string b = a;
   Grow(b);
   Print(a, " ", b, " ", a < b, " ", a == "abc", " ", a != b, " ", a[1], " ", StringLen(b));
   Print("x" + 1 + 2.5 + true + 'A', " ", "a" "b", " ", (string)12 + (string)D'1970.01.02');
   Print((long)"123", " ", (double)"1.5", " ", StringToInteger(" 42x"), " ",
         StringToDouble("1e3"), " ", (datetime)"2026.01.02 03:04");
   Print(StringSubstr("abcdef", 2), " ", StringSubstr("abcdef", 2, 2), " ",
         StringFind("abcabc", "c", 3), " ", StringFind("abc", "x"), " ",
         StringGetCharacter("abc", 1), " ", StringCompare("a", "B", false));
   string parts[];
   const int split = StringSplit("EURUSD,,GBPUSD", ',', parts);
   Print(split, " ", parts[0], "|", parts[1], "|", parts[2]);
   string text = "  a-b-c \t";
   const int left = StringTrimLeft(text);
   const int right = StringTrimRight(text);
   const int replaced = StringReplace(text, "-", "+");
   Print(left, " ", right, " ", replaced, " ", text);
   StringToUpper(text);
   StringSetCharacter(text, 1, '_');
   Print(text, " ", ShortToString('Z'), " ", CharToString('q'));
   Print(IntegerToString(7, 4, '0'), " ", DoubleToString(2.0 / 3.0, 3), " ",
         NormalizeDouble(1.23456, 2), " ", DoubleToString(5, 0));
   Print(0.1, " ", 1.0, " ", 1e-7, " ", 1e20, " ", 1.0 / 3.0, " ", (float)0.1);
   PrintFormat("%d|%5d|%-5d|%05d|%+d|%x|%X|%c|%%", 42, 42, 42, 42, 42, 255, 255, 'A');
   PrintFormat("%.2f|%8.3f|%-8.1f|%g|%e", 3.14159, 3.14159, 3.14159, 0.0001, 12345.678);
   PrintFormat("%s|%10s|%-10s|%.2s|%s", "abc", "abc", "abc", "abc", 5);
   PrintFormat("%I64d|%I64u|%llu|%d", 5000000000, (ulong)-1, (ulong)5, 5000000000);
   PrintFormat("%.*f|%0*d", 1, 2.55, 6, 42);
   const string german = "\x00e4\x00f6 \x20ac";
   uchar bytes[];
   int count = StringToCharArray(german, bytes, 0, -1, CP_UTF8);
   Print(german, " ", StringLen(german), " ", count, " ", bytes[0], " ", bytes[count - 1], " ",
         CharArrayToString(bytes, 0, -1, CP_UTF8) == german);
   count = StringToCharArray("abc", bytes, 0, 3);
   Print(count, " ", ArraySize(bytes), " ", CharArrayToString(bytes, 1, 2));
   ushort units[];
   count = StringToShortArray("ab", units);
   Print(count, " ", units[1], " ", ShortArrayToString(units));
   Print(TimeToString(D'2026.03.04 05:06:07'), "|", TimeToString(D'2026.03.04', TIME_DATE), "|",
         TimeToString(D'2026.03.04 05:06:07', TIME_MINUTES | TIME_SECONDS));
   Print("quote \" backslash \\ tab\tend");
  }
