//| The publisher's lines on the chart.
#ifndef MT5BRIDGE_PUBLISHER_STATUS
#define MT5BRIDGE_PUBLISHER_STATUS

#include "Session/Moment.mqh"
#include "Version.mqh"

#define STATUS_EVERY_MS 1000

struct PublisherFigures
  {
   ulong ticks;          // numbered since the streams began
   ulong deals;          // revisions numbered
   ulong waiting;        // not yet known to be on the daemon's disk
   ulong late;           // ticks found by recount
   ulong surplus;        // ticks sent that the tick base does not hold any more
   ulong intervals;      // recounted
   ulong failures;       // answers of the tick base that were errors
   ulong connects;
   long  round_trip_us;
  };

class PublisherStatus
  {
private:
   long m_due_ms;

public:
        PublisherStatus(void) { m_due_ms = 0; }
   bool Due(const Moment &now) const { return now.ms >= m_due_ms; }
   void Show(const string state, const PublisherFigures &figures, const Moment &now);
  };

// Replaces the chart's comment.
void PublisherStatus::Show(const string state, const PublisherFigures &figures, const Moment &now)
  {
   m_due_ms = now.ms + STATUS_EVERY_MS;
   string lines = "Mt5Bridge publisher " + MT5BRIDGE_VERSION + ": " + state;
   lines += StringFormat("\nticks %I64u, deal revisions %I64u, not yet on disk %I64u", figures.ticks, figures.deals, figures.waiting);
   lines += StringFormat("\nrecounted intervals %I64u: late ticks sent %I64u, not in the tick base any more %I64u", figures.intervals, figures.late, figures.surplus);
   lines += StringFormat("\nconnections %I64u, round trip %.1f ms, tick base errors %I64u", figures.connects, (double)figures.round_trip_us / 1000.0, figures.failures);
   Comment(lines);
  }

#endif
