// Widths, conversions, arithmetic and control flow of plain types.
enum Colour { RED, GREEN = 5, BLUE };

union Bits
  {
   double number;
   ulong  bits;
   uchar  bytes[8];
  };

int g_zero;
int g_calls = 0;

int Later(const int n);  // a prototype; the function stands below its first use

string Kind(const Colour colour)
  {
   switch(colour)
     {
      case RED:
         return("red");
      case GREEN:
         return("green");
     }
   return("other");
  }

int Default(const int a, const int b = 7) { return(a * b); }

void OnStart(void)
  {
   Print(sizeof(char), " ", sizeof(short), " ", sizeof(int), " ", sizeof(long), " ",
         sizeof(datetime), " ", sizeof(bool), " ", sizeof(Colour), " ", sizeof(Bits));
   const uchar low = (uchar)300;
   int wrapped = INT_MAX;
   wrapped += 1;
   Print(low, " ", wrapped, " ", (uint)-1, " ", (ulong)-1, " ", (long)2147483648);
   Print(7 / 2, " ", -7 / 2, " ", 7 % 3, " ", 7 / 2.0, " ", 1 << 4, " ", 0xFF & ~0x0F);
   Print('A', " ", '\n', " ", '\\', " ", '\x41', " ", (uchar)'z');
   Print(Kind(RED), " ", Kind(GREEN), " ", Kind(BLUE), " ", EnumToString(BLUE), " ", BLUE);
   Bits both;
   both.number = 1.0;
   Print(both.bits, " ", both.bytes[7], " ", both.bytes[0]);
   datetime time = D'2026.01.31 23:59:59';
   time += 1;
   Print(time, " ", (long)time, " ", time - D'2026.02.01', " ", time > D'2026.01.31');
   Print(C'255,128,0', " ", (int)C'1,2,3');
   Print(true, " ", !true, " ", (bool)5, " ", true && g_zero == 0);
   const int later = Later(4);
   Print(Default(3), " ", Default(3, 2), " ", later, " ", g_calls);
   int sum = 0;
   for(int i = 0, j = 10; i < j; i++, j--)
      sum += i > 2 ? 100 : j;
   do
     {
      sum--;
     }
   while(sum > 320);
   Print(sum);
   MqlDateTime parts;
   TimeToStruct(D'2024.12.31 01:02:03', parts);
   Print(parts.year, " ", parts.mon, " ", parts.day, " ", parts.hour, " ", parts.min, " ",
         parts.sec, " ", parts.day_of_week, " ", parts.day_of_year, " ",
         StructToTime(parts) == D'2024.12.31 01:02:03');
   Print(MathAbs(-3), " ", MathMax(2, 5.5), " ", MathMin(2, 5), " ", MathFloor(-1.5), " ",
         MathRound(2.5), " ", MathPow(2, 10), " ", MathSqrt(2.25), " ", MathIsValidNumber(1.5));
   MathSrand(1);
   const int first = MathRand();
   MathSrand(1);
   Print(first == MathRand(), " ", first >= 0 && first < 32768);
   ResetLastError();
   SetUserError(3);
   Print(GetLastError(), " ", _LastError == 65539);
  }

int Later(const int n)
  {
   g_calls++;
   return(n * n);
  }
