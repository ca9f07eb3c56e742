// Static variables of functions; what FileWrite puts between values.
class Counter
  {
public:
   int               Next(void)
     {
      static int     count = 10, step = 2;
      count += step;
      return(count);
     }
  };

struct Pair
  {
   int               a;
   double            b;
  };

int Calls(const bool other)
  {
   static int first, second = 5;
   if(other)
      return(++second);
   return(++first);
  }

string Kept(const int value)
  {
   static string text = "kept";
   static datetime last_bar;
   static int fixed_size[3] = {1, 2, 3}, grows[];
   static Pair pair;
   static Counter *counter = NULL;
   if(counter == NULL)
      counter = new Counter;
   delete counter;
   counter = NULL;
   const int size = ArraySize(grows);
   ArrayResize(grows, size + 1);
   grows[size] = value;
   fixed_size[1] += value;
   pair.a += value;
   last_bar += 60;
   text += "+";
   return(text + " " + (string)(long)last_bar + " " + (string)fixed_size[1] + " " + (string)ArraySize(grows)
          + " " + (string)pair.a + " " + (string)pair.b);
  }

void Write(const string name, const int kind, const short delimiter)
  {
   int file = FileOpen(name, FILE_WRITE | FILE_ANSI | kind, delimiter);
   FileWrite(file, "a", 2, 2.5);
   FileClose(file);
   file = FileOpen(name, FILE_READ | FILE_TXT | FILE_ANSI);
   Print(FileReadString(file));
   FileClose(file);
   if(!FileDelete(name))
      Print("not deleted");
  }

void OnStart(void)
  {
   Counter one, two;
   Print(one.Next());
   Print(two.Next());
   Print(Calls(false));
   Print(Calls(false));
   Print(Calls(true));
   Print(Kept(7));
   Print(Kept(7));
   Write("a.csv", FILE_CSV, ',');
   Write("a.csv", FILE_CSV, '\t');
   Write("a.csv", FILE_CSV, 0);
   Write("a.txt", FILE_TXT, ';');
   Write("a.txt", FILE_TXT, 0);
  }
