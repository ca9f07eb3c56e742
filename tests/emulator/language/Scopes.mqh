// What an include file may hold: an input, a variable, a function that uses both.
#ifndef LANGUAGE_SCOPES_MQH
#define LANGUAGE_SCOPES_MQH

input int More = 3;
int g_included = More + 1;
int Included(const int x)
  {
   g_included++;
   return(x * More);
  }

#endif
