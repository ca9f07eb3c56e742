//| Measures what only an expert can: events, and what is left of it when its chart's period changes.
#property copyright "mt5bridge"
#property version   "1.00"
#property description "The part of SelfTest for an expert. Changes the chart's period and back, writes Files\\Mt5Bridge\\probe-life.json and removes itself."

#include <Mt5Bridge\Probe\Life.mqh>

LifeProbe probe;

int OnInit() { return probe.Init(); }

void OnDeinit(const int reason) { probe.Deinit(reason); }

void OnTick() { probe.Tick(); }

void OnTimer() { probe.Timer(); }

void OnChartEvent(const int id, const long &lparam, const double &dparam, const string &sparam)
  {
   probe.ChartEvent(id, lparam, dparam, sparam);
  }
