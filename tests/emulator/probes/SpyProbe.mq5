// Tells a chart of every tick of its own symbol; also tries what indicators must not do.
#property version "1.00"
#property indicator_chart_window
#property indicator_plots 0

input long   Receiver = 0;    // the chart that is told
input ushort Event    = 1;    // number of the custom event
input double Value    = 0.0;  // dparam of the event

int OnInit()
  {
   ResetLastError();
   const int socket = SocketCreate();
   PrintFormat("socket %d error %d", socket, GetLastError());
   return INIT_SUCCEEDED;
  }

int OnCalculate(const int rates_total, const int prev_calculated, const int begin,
                const double &price[])
  {
   string text = "";
   StringInit(text, 100, 'x');
   EventChartCustom(Receiver, Event, rates_total, Value, text);
   return rates_total;
  }
