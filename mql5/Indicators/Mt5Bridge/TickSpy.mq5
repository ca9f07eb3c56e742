//| Turns each tick of its symbol into a chart event for an Expert Advisor on another chart.
#property version   "1.00"
#property description "Started by the Mt5Bridge publisher; sends nothing but a wake-up."
#property indicator_chart_window
#property indicator_buffers 0
#property indicator_plots   0

input long Receiver = 0;  // chart that is told of each tick; the publisher gives its own
input int  Event = 5655;  // number of the custom chart event
input int  Index = 0;     // index of this symbol at the receiver

// On a chart of its own it has nobody to tell: 0 would be that chart.
int OnInit()
  {
   const bool known = Receiver > 0 && Event >= 0 && Event <= 0xFFFF && Index >= 0;
   return known ? INIT_SUCCEEDED : INIT_PARAMETERS_INCORRECT;
  }

// All indicators of a symbol share one thread with its ticks: signal, and do nothing else.
int OnCalculate(const int rates_total, const int prev_calculated, const int begin, const double &price[])
  {
   EventChartCustom(Receiver, (ushort)Event, Index, 0.0, "");
   return rates_total;
  }
