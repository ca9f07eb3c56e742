// Inputs of every type, with groups.
#property version "1.5"
enum Order { FIRST, LAST };
input group "Numbers"
input int Whole = 7;         // a whole number
input double Real = 0.5;
input group "Others"
sinput string Text = "text"; // a text
input bool Yes = false;
input datetime When = 0;
input Order Sort = FIRST;
input ulong Big = 18446744073709551615;

void OnStart(void)
  {
   Print(Whole, " ", Real, " ", Text, " ", Yes, " ", When, " ", EnumToString(Sort), " ", Big);
  }
