//| What wakes a program for symbols other than its chart's: spies and market books.
#ifndef MT5BRIDGE_MARKET_WAKEUPS
#define MT5BRIDGE_MARKET_WAKEUPS

#define SPY_EVENT 5655  // the symbol of index i has the custom event SPY_EVENT + i

// OnTick speaks of the chart's symbol only. An indicator runs on any symbol and sends a custom event
// to our chart on each of its ticks; each symbol has an event number of its own, because the
// terminal merges waiting events of one number.
class Wakeups
  {
private:
   int      m_spies[];
   string   m_books[];

public:
           ~Wakeups(void) { Release(); }
   bool     Spy(const string symbol, const int index);
   bool     Book(const string symbol);
   int      IndexOf(const int event_id, const long index) const;
   void     Release(void);
  };

// Starts a TickSpy on a symbol; false, with a line in the journal, when there is none.
bool Wakeups::Spy(const string symbol, const int index)
  {
   int handle = iCustom(symbol, PERIOD_CURRENT, "Mt5Bridge\\TickSpy", ChartID(), SPY_EVENT + index, index);
   if(handle == INVALID_HANDLE)
     {
      PrintFormat("no TickSpy on %s (error %d): the timer alone looks for its ticks", symbol, GetLastError());
      return false;
     }
   int count = ArraySize(m_spies);
   ArrayResize(m_spies, count + 1, 16);
   m_spies[count] = handle;
   return true;
  }

// Subscribes to a symbol's market book, whose events are never merged; false, with a line in the
// journal, when it has none.
bool Wakeups::Book(const string symbol)
  {
   if(!MarketBookAdd(symbol))
     {
      PrintFormat("no market book of %s (error %d)", symbol, GetLastError());
      return false;
     }
   int count = ArraySize(m_books);
   ArrayResize(m_books, count + 1, 16);
   m_books[count] = symbol;
   return true;
  }

// The symbol's index, if a chart event is a spy's; -1: it is something else.
int Wakeups::IndexOf(const int event_id, const long index) const
  {
   return event_id == CHARTEVENT_CUSTOM + SPY_EVENT + (int)index ? (int)index : -1;
  }

void Wakeups::Release(void)
  {
   for(int i = 0; i < ArraySize(m_spies); i++)
      IndicatorRelease(m_spies[i]);
   for(int i = 0; i < ArraySize(m_books); i++)
      MarketBookRelease(m_books[i]);
   ArrayResize(m_spies, 0);
   ArrayResize(m_books, 0);
  }

#endif
