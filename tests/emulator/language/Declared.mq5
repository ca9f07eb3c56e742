// Several pointers in one declaration, colours by name, and what may be the size of an array.
#define ROWS 10
const int COLUMNS = 4;
enum Sizes { SIZE_SMALL = 3 };

class Average
  {
   double            m_values[ROWS];
   enum              Own { LENGTH = 5 };
   int               m_more[LENGTH];

public:
   int               period;
   Average          *next, *previous;
   Average          *list[], *last;
                     Average(const int n) : period(n), next(NULL), previous(NULL), last(NULL) { }
   int               Size(void) { return(ArraySize(m_values) + ArraySize(m_more)); }
  };

Average *g_fast = NULL, *g_slow = NULL;
const Average *g_first = NULL, *g_second = NULL;
double   g_plain[ROWS], g_const[COLUMNS], g_enum[SIZE_SMALL], g_grid[ROWS * 2][COLUMNS];
input color Line = clrRed;
input color Fill = C'1,2,3';
input color None = clrNONE;
input color Number = 0x00FF00;

int Together(Average *one, Average *two) { return(one.period + two.period); }

void OnStart(void)
  {
   static Average *kept = NULL, *other = NULL;
   Average *a = new Average(1), *b = new Average(2);
   a.next = b;
   b.previous = a;
   g_fast = a;
   g_slow = b;
   g_first = g_fast;
   for(Average *p = a, *q = b; p != NULL; p = p.next)
      Print(p.period, " ", q.period, " ", p.previous == NULL);
   Print(Together(g_fast, g_slow), " ", g_first == a, " ", g_second == NULL, " ", kept == other, " ", a.Size());
   delete a;
   delete b;
   const int local = 6;
   static const int fixed_size = 7;
   int by_local[local], by_static[fixed_size];
   Print(ArraySize(g_plain), " ", ArraySize(g_const), " ", ArraySize(g_enum), " ", ArraySize(g_grid), " ",
         ArraySize(by_local), " ", ArraySize(by_static));
   Print(Line, " ", Fill, " ", None, " ", Number, " ", (int)clrAliceBlue, " ", C'0xFF,165,0');
   Print(ColorToString(clrBlue), " ", ColorToString(C'0,0,255', true), " ", ColorToString(C'0,0,250', true));
   Print(StringToColor("clrBlue"), " ", StringToColor("Blue"), " ", StringToColor("This is 128, 128,128 gray"));
   Print(StringFormat("%X %X", ColorToARGB(clrOrange), ColorToARGB(clrDeepSkyBlue, 0x40)));
  }
