//| A complex event of the daemon's rules, and the simple events in it with their fields.
#ifndef MT5BRIDGE_COMPLEX_EVENT
#define MT5BRIDGE_COMPLEX_EVENT

#include "Wire/Frames.mqh"

// Fields are read by the name of a bound simple event and their own; what is not there, or is no such
// value, is `otherwise`. Times are UTC, ms since 1970. The daemon tells fields only of what its rules
// put out ([rules] streams), and `frame.bound[i].time_msc` is 0 where it does not remember the row.
class ComplexEvent
  {
public:
   EventFrame frame;       // as it came
   ulong      numbering;   // of its number; under another one numbers begin anew
   ulong      missed;      // occurrences of this complex event just before it that never came

              ComplexEvent(void) { numbering = missed = 0; }
   string     Name(void) const { return frame.name; }
   string     Engine(void) const { return frame.engine; }
   string     Key(void) const { return frame.key; }   // such as the symbol; empty: not `for each`
   ulong      Number(void) const { return frame.number; }
   long       TimeMsc(void) const { return frame.time_msc; }
   long       FirstMsc(void) const { return frame.first_msc; }
   int        Total(void) const { return ArraySize(frame.bound); }
   int        IndexOf(const string bound, const string key = NULL) const;
   bool       Has(const string bound, const string field) const;
   double     GetDouble(const string bound, const string field, const double otherwise = 0.0) const;
   long       GetInteger(const string bound, const string field, const long otherwise = 0) const;
   string     GetString(const string bound, const string field, const string otherwise = "") const;

private:
   int        FieldOf(const int place, const string field) const;
  };

// The place in `frame.bound` of the first simple event of this name, and of this key if one is given;
// -1: there is none.
int ComplexEvent::IndexOf(const string bound, const string key) const
  {
   for(int i = 0; i < ArraySize(frame.bound); i++)
      if(frame.bound[i].name == bound && (StringLen(key) == 0 || frame.bound[i].key == key))
         return i;
   return -1;
  }

// Whether the simple event has the field, and it is not null.
bool ComplexEvent::Has(const string bound, const string field) const
  {
   int place = IndexOf(bound);
   int at = FieldOf(place, field);
   return at >= 0 && frame.bound[place].fields[at].kind != FIELD_NULL;
  }

// A number, whole or not.
double ComplexEvent::GetDouble(const string bound, const string field, const double otherwise) const
  {
   int place = IndexOf(bound);
   int at = FieldOf(place, field);
   if(at < 0)
      return otherwise;
   uchar kind = frame.bound[place].fields[at].kind;
   if(kind == FIELD_WHOLE)
      return (double)frame.bound[place].fields[at].whole;
   return kind == FIELD_NUMBER ? frame.bound[place].fields[at].number : otherwise;
  }

// A whole number, or 1 and 0 for true and false.
long ComplexEvent::GetInteger(const string bound, const string field, const long otherwise) const
  {
   int place = IndexOf(bound);
   int at = FieldOf(place, field);
   if(at < 0)
      return otherwise;
   uchar kind = frame.bound[place].fields[at].kind;
   return kind == FIELD_WHOLE || kind == FIELD_BOOL ? frame.bound[place].fields[at].whole : otherwise;
  }

// A text.
string ComplexEvent::GetString(const string bound, const string field, const string otherwise) const
  {
   int place = IndexOf(bound);
   int at = FieldOf(place, field);
   if(at < 0 || frame.bound[place].fields[at].kind != FIELD_TEXT)
      return otherwise;
   return frame.bound[place].fields[at].text;
  }

// The place of a field in a simple event; -1: there is none.
int ComplexEvent::FieldOf(const int place, const string field) const
  {
   if(place < 0)
      return -1;
   for(int i = 0; i < ArraySize(frame.bound[place].fields); i++)
      if(frame.bound[place].fields[i].name == field)
         return i;
   return -1;
  }

#endif
