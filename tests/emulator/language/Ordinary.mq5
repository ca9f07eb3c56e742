// What ordinary programs of traders do: macros that call methods, pointers to templates of classes.
#define LOG(text) Log::Instance().Write(text)
#define SHOW(x) Print(#x, " = ", x)
#define MEMBER(name) m_##name
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

class Log
  {
   static Log       *s_instance;
   int               MEMBER(lines);
                     Log(void) : m_lines(0) { }

public:
   static Log       *Instance(void)
     {
      if(s_instance == NULL)
         s_instance = new Log();
      return(s_instance);
     }
   static void       Release(void)
     {
      delete s_instance;
      s_instance = NULL;
     }
   void              Write(const string text) { Print(++m_lines, ": ", text); }
  };

Log *Log::s_instance = NULL;

struct Level
  {
   double            price;
   bool              placed;
                     Level(void) : price(1.5), placed(false) { }
  };

template<typename K, typename V>
class Map
  {
   K                 m_keys[];
   V                 m_values[];

public:
   void              Set(const K key, const V value)
     {
      const int size = ArraySize(m_keys);
      ArrayResize(m_keys, size + 1);
      ArrayResize(m_values, size + 1);
      m_keys[size] = key;
      m_values[size] = value;
     }
   V                 Last(void) const { return(m_values[ArraySize(m_values) - 1]); }
  };

void OnStart(void)
  {
   LOG("first");
   LOG(StringFormat("%d", LARGER(2, 3)));
   Log::Release();
   const int some = 9;
   SHOW(some);
   SHOW(some + 1);
   Map<string, double> *map = new Map<string, double>(), *other = new Map<string, double>;
   map.Set("a", 0.5);
   other.Set("b", 2.5);
   Print(map.Last(), " ", other.Last());
   delete map;
   delete other;
   Level levels[];
   ArrayResize(levels, 2);
   Print(levels[1].price, " ", levels[1].placed);
   int table[3][2] = {{3, 1}, {1, 2}, {2, 3}};
   ArraySort(table);
   Print(table[0][0], table[0][1], table[2][0]);
   string text = "old";
   const int length = StringConcatenate(text, "a", 1, 2.5);
   Print(text, " ", length);
   srand(1);
   const int first = rand();
   MathSrand(1);
   Print(first == MathRand(), " ", PeriodSeconds(PERIOD_M15), " ", PeriodSeconds(PERIOD_H4), " ",
         PeriodSeconds(PERIOD_D1), " ", PeriodSeconds(PERIOD_W1), " ", PeriodSeconds(PERIOD_MN1), " ",
         PeriodSeconds() == PeriodSeconds(_Period), " ", MathArcsin(0), " ", MathArccos(1));
  }
