// Arrays whose indices count from the last element.
#property version "1.00"

string Row(const double &values[])
  {
   string text = "";
   for(int i = 0; i < ArraySize(values); i++)
      text += (string)values[i] + " ";
   return text;
  }

void Fill(double &values[])
  {
   ArrayResize(values, 4);
   for(int i = 0; i < 4; i++)
      values[i] = i + 1;
  }

class Holder
  {
public:
   double m_values[];
          Holder(void) { ArraySetAsSeries(m_values, true); }
  };

void OnStart()
  {
   double values[];
   Print(ArrayGetAsSeries(values), " ", ArrayIsSeries(values));
   Print(ArraySetAsSeries(values, true));
   Print(ArrayGetAsSeries(values), " ", ArrayIsSeries(values));
   Fill(values);
   Print(Row(values));
   ArraySetAsSeries(values, false);
   Print("turned back ", Row(values));
   ArraySetAsSeries(values, true);
   Print("greatest at ", ArrayMaximum(values), ", least at ", ArrayMinimum(values, 1, 2));
   ArrayResize(values, 5);
   values[0] = 9;
   Print("longer ", Row(values));
   ArrayFree(values);
   ArrayResize(values, 2);
   values[0] = 1;
   values[1] = 2;
   ArraySetAsSeries(values, false);
   Print("still turned after ArrayFree ", Row(values));
   double fixed[2] = {1, 2};
   double table[][2];
   Print(ArraySetAsSeries(fixed, true), " ", ArraySetAsSeries(table, true), " ", fixed[0]);
   Holder holder;
   Fill(holder.m_values);
   ArraySetAsSeries(holder.m_values, false);
   Print("member ", Row(holder.m_values));
  }
