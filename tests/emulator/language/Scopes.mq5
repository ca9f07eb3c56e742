// Classes and functions use what is global; static members, interfaces and variables of functions.
#include "Scopes.mqh"
#define LIMIT 7
typedef double (*Operation)(double, double);
typedef void (*Filling)(double &values[], const string &name);

input double Factor = 1.5;
double g_twice = Factor * 2;
string g_order = "";
double g_late = Late(3);

interface Shape
  {
   double            Area(void);
   virtual string    Name(void) const = 0;
  };

class Counted
  {
   static int        s_alive;
   static const int  s_limit;

public:
   static double     s_share;
   static string     s_names[];
   static Counted   *s_first, *s_last;
   static int        Alive(void) { return(s_alive); }
   static int        Limit(void) { return(s_limit); }
                     Counted(void) { s_alive++; }
                    ~Counted(void) { s_alive--; }
  };

int      Counted::s_alive = 0;
const int Counted::s_limit = LIMIT;
double   Counted::s_share = 1.5;
string   Counted::s_names[];
Counted *Counted::s_first = NULL;
Counted *Counted::s_last = NULL;
const Counted g_counted;

class Square : public Shape
  {
   double            m_side;

public:
                     Square(const double side) : m_side(side) { }
   double            Area(void) { return(Scaled(m_side * m_side)); }
   string            Name(void) const { g_order += "name "; return("square"); }
  };

class Calls
  {
   Operation         m_operation;

public:
                     Calls(Operation operation) : m_operation(operation) { }
   double            Both(const double x) { return(m_operation(x, x)); }
  };

int Twice(int x, int more = 1);

double   Sum(const double a, const double b) { return(a + b); }
double   Product(const double a, const double b) { return(a * b); }
Calls    g_calls(Sum), g_other(Product);
Operation g_operation = NULL, g_table[2];

double Apply(Operation operation, const double a, const double b)
  {
   if(operation == NULL)
      return(-1);
   return(operation(a, b));
  }

void Fill(double &values[], const string &name)
  {
   ArrayResize(values, 2);
   ArrayFill(values, 0, 2, StringLen(name));
  }

void OnStart(void)
  {
   const int included = Included(2);
   Print(g_twice, " ", g_late, " ", g_order, included, " ", g_included, " ", Twice(4));
   Operation operation = Sum;
   Print(operation(1, 2), " ", Apply(operation, 5, 6), " ", Apply(Product, 2, 3), " ", Apply(NULL, 1, 1));
   operation = Product;
   g_table[0] = Sum;
   g_table[1] = operation;
   Print(g_table[1](2, 8), " ", g_table[0] == Sum, " ", g_table[0] != operation, " ", g_operation == NULL, " ",
         g_calls.Both(4), " ", g_other.Both(4));
   Filling filling = Fill;
   double values[];
   const string name = "four";
   filling(values, name);
   Print(ArraySize(values), " ", values[1]);
   Counted one, two;
   Print(Counted::Alive(), " ", Counted::Limit(), " ", Counted::s_share, " ", Counted::s_first == Counted::s_last);
   one.s_share = 2;
   ArrayResize(Counted::s_names, 2);
   Counted::s_names[1] = "b";
   Counted::s_first = GetPointer(one);
   Print(two.s_share, " ", Counted::s_names[1], " ", Counted::s_first == GetPointer(one));
   Shape *shape = new Square(3);
   Print(shape.Area(), " ", shape.Name(), " ", g_order);
   delete shape;
   const int fresh = Fresh();
   Print(fresh, " ", Fresh());
  }

double Late(const int x, const double y = 2.5)
  {
   g_order += "late ";
   return(x * y);
  }

double Scaled(const double x) { return(x * Factor); }

int Twice(int x, int more = 1) { return(2 * x + more); }

int Fresh(void)
  {
   static int count = Included(1);
   return(++count);
  }
