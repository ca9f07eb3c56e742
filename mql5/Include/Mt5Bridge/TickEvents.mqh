//| Each tick of any symbols as one call of OnTick, by chart events of TickSpy; needs no daemon.
#ifndef MT5BRIDGE_TICK_EVENTS
#define MT5BRIDGE_TICK_EVENTS

#include "EventsCallback.mqh"
#include "Market/SymbolProperties.mqh"
#include "Market/TickTail.mqh"
#include "Market/Wakeups.mqh"

// The terminal calls a program's OnTick for the chart's symbol only, and not for every tick. Begin()
// in OnInit, End() in OnDeinit, and in OnTick, OnChartEvent and OnTimer the methods of those names:
// each of them looks whether there are ticks, so that none is missed when an event is.
class TickEvents
  {
private:
   EventsCallback *m_callback;
   TickTail       *m_tails[];
   Wakeups         m_wakeups;
   MqlTick         m_buffer[];
   bool            m_looking;   // a look is under way

public:
                   TickEvents(void) { m_callback = NULL; m_looking = false; }
                  ~TickEvents(void) { End(); }
   bool            Begin(const string symbols, EventsCallback *callback, const long since_msc = 0);
   void            Tick(void);
   void            ChartEvent(const int id, const long index);
   void            Timer(void);
   void            End(void);

private:
   void            Look(const int index);
  };

// `symbols`: names, separated by commas. `since_msc`: ticks from this time of the trade server on,
// such as that of the last one seen before a restart, + 1; 0: ticks from now on. False: there is
// no such symbol; the user was told.
bool TickEvents::Begin(const string symbols, EventsCallback *callback, const long since_msc)
  {
   End();
   m_callback = callback;
   string names[];
   SymbolNames(symbols, names);
   SymbolEntry entry;
   for(int i = 0; i < ArraySize(names); i++)
      if(!ReadSymbol(names[i], entry))
         return false;
   ArrayResize(m_tails, ArraySize(names));
   for(int i = 0; i < ArraySize(names); i++)
     {
      m_tails[i] = new TickTail();
      m_tails[i].Begin(names[i], since_msc);
      if(names[i] != _Symbol)
         m_wakeups.Spy(names[i], i);
     }
   return true;
  }

// From OnTick: the chart's symbol has a tick.
void TickEvents::Tick(void)
  {
   for(int i = 0; i < ArraySize(m_tails); i++)
      if(m_tails[i].Symbol() == _Symbol)
         Look(i);
  }

// From OnChartEvent, with its `id` and `lparam`: a spy has seen a tick of its symbol.
void TickEvents::ChartEvent(const int id, const long index)
  {
   Look(m_wakeups.IndexOf(id, index));
  }

// From OnTimer: ticks whose events the terminal has merged or dropped.
void TickEvents::Timer(void)
  {
   for(int i = 0; i < ArraySize(m_tails); i++)
      Look(i);
  }

// From OnDeinit.
void TickEvents::End(void)
  {
   m_wakeups.Release();
   for(int i = 0; i < ArraySize(m_tails); i++)
      delete m_tails[i];
   ArrayResize(m_tails, 0);
   m_looking = false;
  }

// What is called in OnTick may lead here again: those ticks come when it is done.
void TickEvents::Look(const int index)
  {
   if(m_looking || index < 0 || index >= ArraySize(m_tails))
      return;
   m_looking = true;
   m_tails[index].Look(m_buffer, m_callback);
   m_looking = false;
  }

#endif
