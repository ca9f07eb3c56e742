// Counts ticks in every kind of variable there is; all of them must always agree.
#property version "1.00"

input int Step = 1;  // what a tick counts

int    g_ticks = 10 * Step;
string g_text = "";
double g_list[];

class Counter
  {
public:
   static int        s_ticks;
   static string     s_text;
   static double     s_list[];
   static Counter   *s_last;
   static int        Count(void) { return(s_ticks); }
   int               Next(void)
     {
      static int count = 0;
      count += Step;
      return(count);
     }
  };

int      Counter::s_ticks = 0;
string   Counter::s_text = "";
double   Counter::s_list[];
Counter *Counter::s_last = NULL;
Counter  g_counter;
int      g_begun = 0;
int      g_next = 0;

bool Agree(void)
  {
   const int ticks = g_ticks - 10 * Step;
   return(Counter::s_ticks == ticks && g_next == ticks && StringLen(g_text) * Step == ticks &&
          g_text == Counter::s_text && ArraySize(g_list) * Step == ticks &&
          ArraySize(Counter::s_list) * Step == ticks && (ticks == 0 || Counter::s_last == GetPointer(g_counter)));
  }

int OnInit(void)
  {
   PrintFormat("init %d step %d ticks %d agree %d", ++g_begun, Step, Counter::Count(), Agree());
   return(INIT_SUCCEEDED);
  }

void OnTick(void)
  {
   g_ticks += Step;
   Counter::s_ticks += Step;
   g_text += "x";
   Counter::s_text += "x";
   const int size = ArraySize(g_list);
   ArrayResize(g_list, size + 1);
   ArrayResize(Counter::s_list, size + 1);
   g_list[size] = Counter::s_list[size] = Step;
   g_next = g_counter.Next();
   Counter::s_last = GetPointer(g_counter);
   if(!Agree())
      Print("mixed up");
  }

void OnDeinit(const int reason)
  {
   PrintFormat("deinit %d step %d ticks %d agree %d", reason, Step, Counter::Count(), Agree());
  }
