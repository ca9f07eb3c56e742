// Arrays: dynamic, static, of structures, by reference; and their functions.
struct Pair
  {
   int    key;
   uchar  tail[3];
   double value;
  };

struct Named
  {
   string name;
   int    values[];
  };

const int PRIMES[] = {2, 3, 5, 7};
#define ROWS 2

class Holder
  {
private:
   uchar             m_bytes[];
   uint              m_table[ROWS][3];

public:
   void              Fill(void)
     {
      ArrayResize(m_bytes, 3, 16);
      ArrayInitialize(m_bytes, 9);
      for(int i = 0; i < ROWS; i++)
         for(int j = 0; j < 3; j++)
            m_table[i][j] = (uint)(10 * i + j);
     }
   int               CopyTo(uchar &target[]) const { return(ArrayCopy(target, m_bytes, 1)); }
   uint              At(const int i, const int j) const { return(m_table[i][j]); }
  };

int g_values[4];

template<typename T>
string Kind(const T x) { return(typename(T) + "/" + typename(x)); }

int Sum(const int &values[])
  {
   int sum = 0;
   for(int i = 0; i < ArraySize(values); i++)
      sum += values[i];
   return(sum);
  }

bool Grow(int &values[], const int size) { return(ArrayResize(values, size) == size); }

int Rows(const int &table[][3]) { return(ArrayRange(table, 0)); }

string Joined(const int &values[])
  {
   string text = "";
   for(int i = 0; i < ArraySize(values); i++)
      text += (i > 0 ? "," : "") + IntegerToString(values[i]);
   return(text);
  }

void Printed(const string &words[])
  {
   const double prices[] = {1.5, -22.25, 3};
   const int counts[] = {1, 20, 300};
   ArrayPrint(prices, 2);
   ArrayPrint(counts);
   ArrayPrint(words, 0, ";");
   ArrayPrint(counts, 0, NULL, 1, 1);
   Print(Kind(1), " ", Kind(2.5), " ", Kind("a"), " ", typename(datetime), " ", typename(prices[0]), " ",
         ArrayGetAsSeries(prices));
  }

void OnStart(void)
  {
   int a[], b[3] = {1, 2, 3}, c = 4;
   Print(ArraySize(a), " ", ArraySize(b), " ", c, " ", Sum(b), " ", Sum(PRIMES), " ", Sum(g_values));
   Print(Grow(a, 5), " ", Grow(b, 5), " ", ArrayIsDynamic(a), " ", ArrayIsDynamic(b));
   ArrayFill(a, 0, 5, 1);
   a[4] = 9;
   Print(Joined(a), " ", ArrayMaximum(a), " ", ArrayMinimum(a));
   const int copied = ArrayCopy(a, b, 3);
   Print(copied, " ", Joined(a));
   ArraySort(a);
   Print(Joined(a), " ", ArrayBsearch(a, 2));
   ArrayReverse(a);
   Print(Joined(a));
   ArrayRemove(a, 1, 2);
   Print(Joined(a));
   ArrayInsert(a, b, 1, 0, 2);
   Print(Joined(a));
   int same[];
   ArrayCopy(same, a);
   Print(ArrayCompare(same, a), " ", ArrayCompare(a, b));
   ArraySwap(a, same);
   ArrayCopy(a, a, 1, 0, 3);
   Print(Joined(a));
   ArrayFree(a);
   Print(ArraySize(a));
   int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
   Print(ArraySize(grid), " ", Rows(grid), " ", ArrayRange(grid, 1), " ", grid[1][0]);
   Holder holder;
   holder.Fill();
   uchar bytes[];
   const int taken = holder.CopyTo(bytes);
   Print(taken, " ", ArraySize(bytes), " ", bytes[1], bytes[2], " ", holder.At(1, 2));
   Pair pair = {};
   pair.key = 0x01020304;
   pair.tail[2] = 7;
   pair.value = 0.5;
   StructToCharArray(pair, bytes);
   Print(sizeof(Pair), " ", ArraySize(bytes), " ", bytes[0], " ", bytes[6]);
   Pair back;
   CharArrayToStruct(back, bytes);
   Print( back.key == pair.key, " ", back.tail[2], " ", back.value);
   if(!CharArrayToStruct(back, bytes, 1))
      Print(GetLastError());
   Pair many[2];
   ZeroMemory(many);
   many[1].key = 3;
   Print(many[0].key, " ", many[1].key);
   Named named[];
   ArrayResize(named, 2);
   named[0].name = "first";
   ArrayResize(named[0].values, 2);
   named[0].values[1] = 8;
   Named copy = named[0];
   copy.values[1] = 1;
   Print(named[0].name, " ", named[0].values[1], " ", copy.name, " ", copy.values[1], " ", named[1].name == NULL);
   string words[] = {"b", "a"};
   ArraySort(words);
   Print(words[0], words[1]);
   Printed(words);
  }
