// Says how many custom events its chart has had, at each.
#property version "1.00"

int g_count = 0;

int OnInit()
  {
   return INIT_SUCCEEDED;
  }

void OnChartEvent(const int id, const long &lparam, const double &dparam, const string &sparam)
  {
   g_count++;
   PrintFormat("wake %d: number %d, index %I64d", g_count, id - CHARTEVENT_CUSTOM, lparam);
  }
