//| What the sources say of every return code in reach.
#include <Mt5Bridge\Orders\Retcodes.mqh>

void OnStart(void)
  {
   for(uint code = 10000; code < 10060; code++)
      PrintFormat("%d|%s|%s", code, RetcodeText(code), EnumToString(MeaningOf(code)));
  }
