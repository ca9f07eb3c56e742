// What the terminal stops a program for, chosen by an input.
enum Reason { DIVIDE, REMAINDER, REAL_DIVIDE, INDEX, STATIC_INDEX, NO_OBJECT, DELETED, TWICE, CAST };
input Reason Why = DIVIDE; // what to do wrong

class Thing
  {
public:
   int               value;
                     Thing(void) : value(1) { }
  };

class Other : public Thing
  {
public:
   int               more;
                     Other(void) : more(2) { }
  };

int g_zero = 0;
int g_list[];
Thing *g_thing;

int Wrong(void)
  {
   int four[4];
   ArrayInitialize(four, 0);
   double real = 1.5;
   Thing *thing = new Thing();
   switch(Why)
     {
      case DIVIDE:
         return(5 / g_zero);
      case REMAINDER:
         return(5 % g_zero);
      case REAL_DIVIDE:
         real /= g_zero;
         break;
      case INDEX:
         return(g_list[ArraySize(g_list)]);
      case STATIC_INDEX:
         return(four[4 + g_zero]);
      case NO_OBJECT:
         return(g_thing.value);
      case DELETED:
         g_thing = thing;
         delete thing;
         return(g_thing.value);
      case TWICE:
         g_thing = thing;
         delete thing;
         delete g_thing;
         break;
      case CAST:
         return(((Other *)thing).more);
     }
   return((int)real);
  }

void OnStart(void)
  {
   Print("before");
   Print("after ", Wrong());
  }
