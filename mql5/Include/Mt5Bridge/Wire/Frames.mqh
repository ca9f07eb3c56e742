//| The frames; fields in the order of their bytes (PROTOCOL.md section 4).
#ifndef MT5BRIDGE_WIRE_FRAMES_MQH
#define MT5BRIDGE_WIRE_FRAMES_MQH

#include "Codes.mqh"
#include "Utf8.mqh"

// Terminal: who I am. `instance` is drawn at program start and kept while it runs.
struct HelloFrame
  {
   ulong             instance;
   ulong             account;
   long              time_msc;
   int               utc_offset_ms;
   uint              leverage;
   uchar             account_mode;
   uchar             demo;
   uchar             trades;
   string            identity;
   string            broker;
   string            server;
   string            currency;
   string            program;
  };

// Where a stream stands on the daemon's disk; `name` is the symbol, empty for the deals.
struct ResumeEntry
  {
   ulong             durable;
   long              time_msc;
   uint              count_at_msc;
   string            name;
  };

// Daemon: go on from here, at this pace.
struct WelcomeFrame
  {
   ulong             session;
   long              time_msc;
   uint              heartbeat_ms;
   uint              timeout_ms;
   uint              window_records;
   string            program;
   ResumeEntry       streams[];
  };

// A symbol's properties; `stream` names it on this connection and is at least 1.
struct SymbolEntry
  {
   uint              stream;
   uint              digits;
   uint              filling_modes;
   double            point;
   double            tick_size;
   double            contract_size;
   double            volume_min;
   double            volume_max;
   double            volume_step;
   string            name;
  };

// Terminal: the symbols whose ticks follow, or that may be traded.
struct SymbolsFrame
  {
   SymbolEntry       symbols[];
  };

// Minutes of the server's week, from Sunday's midnight on; of one day, the end excluded.
struct TradeSession
  {
   uint              from_minute;
   uint              to_minute;
  };

// Terminal: what else there is to know of a symbol. Without sessions nothing is said of them.
struct PropertiesFrame
  {
   uint              stream;
   uint              stops_level_points;
   uint              freeze_level_points;
   uchar             swap_mode;
   uchar             swap_triple_day;
   double            swap_long;
   double            swap_short;
   double            tick_value;
   string            profit_currency;
   TradeSession      sessions[];
  };

// Terminal: ticks of one symbol, `first` being the sequence of records[0].
struct TicksFrame
  {
   uint              stream;
   int               utc_offset_ms;
   ulong             first;
   MqlTick           records[];
  };

// A revision of a deal, 252 bytes without padding; texts are UTF-8, zero-padded.
struct DealRecord
  {
   ulong             ticket;
   ulong             order;
   long              time_msc;
   long              magic;
   long              position_id;
   double            volume;
   double            price;
   double            commission;
   double            swap;
   double            profit;
   double            fee;
   double            sl;
   double            tp;
   uint              type;
   uint              entry;
   uint              reason;
   uint              revision;
   uint              kind;
   uchar             symbol[32];
   uchar             comment[64];
   uchar             external_id[32];
  };

// Terminal: deal revisions, `first` being the sequence of records[0]; `stream` is 0.
struct DealsFrame
  {
   uint              stream;
   int               utc_offset_ms;
   ulong             first;
   DealRecord        records[];
  };

// How far a side is in a stream: taken from its source, and passed on.
struct MarkEntry
  {
   uint              stream;
   ulong             taken;
   ulong             passed;
  };

// Both: I live. The daemon answers each of the terminal's at once, with its `token`. A terminal has
// sent all ticks that are older than `complete_msc`, in server time; 0: it promises nothing.
struct HeartbeatFrame
  {
   ulong             token;
   long              time_msc;
   int               utc_offset_ms;
   uint              round_trip_us;
   long              complete_msc;
   MarkEntry         marks[];
  };

// A stream is on disk up to and including `sequence`.
struct DurableEntry
  {
   uint              stream;
   ulong             sequence;
  };

// Daemon: what is on disk and may be forgotten.
struct AckFrame
  {
   DurableEntry      streams[];
  };

// Daemon: `first` to `last` are missing; go on from `first`.
struct ResendFrame
  {
   uint              stream;
   ulong             first;
   ulong             last;
  };

// Terminal: `first` to `last` cannot be sent; go on behind them.
struct LostFrame
  {
   uint              stream;
   ulong             first;
   ulong             last;
   ushort            reason;
   string            text;
  };

// Daemon: please trade. `id` makes it idempotent; zero lots, points, time mean "not given".
struct SignalFrame
  {
   ulong             id;
   long              time_msc;
   long              valid_until_msc;
   long              magic;
   double            lots;
   double            stop_points;
   double            target_points;
   uchar             side;
   string            name;
   string            symbol;
  };

// Daemon: a signal that says prices. Distances are in prices, from that of execution, or from that at
// which a pending order waits; `kind` is ORDER's. With `risk_percent` the stop costs so much of the equity,
// and `lots` are the most.
struct SignalOrderFrame
  {
   SignalFrame       signal;
   uchar             kind;
   double            price;
   double            stop;
   double            target;
   double            stop_distance;
   double            target_distance;
   double            risk_percent;
  };

// Terminal: what became of a signal or order; `lots` and `price` are those of this fill.
struct SignalResultFrame
  {
   ulong             id;
   ulong             deal;
   ulong             order;
   long              time_msc;
   double            lots;
   double            price;
   uint              retcode;
   ushort            status;
   string            text;
  };

// Both: something was refused; `text` says what and how to cure it.
struct ErrorFrame
  {
   ushort            code;
   string            text;
  };

// Both: I close on purpose; do not wait for me.
struct ByeFrame
  {
   string            text;
  };

// Both: prove it for this nonce, 128 bits as hexadecimal digits.
struct ChallengeFrame
  {
   string            nonce;
  };

// Both: the HMAC of both nonces, 256 bits as hexadecimal digits.
struct ProofFrame
  {
   string            proof;
  };

// Terminal: the account's state; no sequence, sent when something changed.
struct AccountFrame
  {
   long              time_msc;
   double            balance;
   double            credit;
   double            profit;
   double            equity;
   double            margin;
   double            margin_free;
   uint              positions;
   uint              orders;
   uchar             allowed;
  };

// Daemon: an order with a client order id; prices are absolute, 0 is "not given".
struct OrderFrame
  {
   ulong             id;
   long              time_msc;
   long              valid_until_msc;
   long              magic;
   ulong             ticket;
   double            lots;
   double            price;
   double            sl;
   double            tp;
   uint              deviation_points;
   uchar             kind;
   uchar             side;
   string            name;
   string            symbol;
  };

// Daemon: were these executed?
struct AskFrame
  {
   ulong             ids[];
  };

// Daemon: the kill switch.
struct HaltFrame
  {
   uchar             halted;
   string            reason;
  };

// Terminal: the tick base holds `count` ticks of this interval, numbered up to `sequence`.
struct RecountFrame
  {
   uint              stream;
   ulong             sequence;
   long              from_msc;
   long              to_msc;
   uint              count;
  };

// A wish of SUBSCRIBE: an engine's complex events, or those of a name; or the newest number known.
struct WantedEntry
  {
   uchar             wanted;
   ulong             number;
   string            name;
  };

// Terminal: send me these complex events. `numbering` is that of the numbers known, 0 without.
struct SubscribeFrame
  {
   ulong             numbering;
   WantedEntry       entries[];
  };

// A complex event of the rules, and the number of its newest occurrence.
struct StandingEntry
  {
   ulong             number;
   string            name;
   string            engine;
  };

// Daemon: the complex events that are subscribed; under another `numbering` numbers are new.
struct SubscribedFrame
  {
   ulong             numbering;
   StandingEntry     events[];
  };

// An attribute of the row that raised a simple event; `kind` says where its value is.
struct EventField
  {
   uchar             kind;
   long              whole;
   double            number;
   string            name;
   string            text;
  };

// A simple event in a complex one; time 0 and no fields: the daemon does not remember its row.
struct BoundEvent
  {
   ulong             sequence;
   long              time_msc;
   string            name;
   string            stream;
   string            key;
   EventField        fields[];
  };

// Daemon: the `number`-th occurrence of a complex event, and the simple events in it, in order.
struct EventFrame
  {
   ulong             number;
   long              time_msc;
   long              first_msc;
   string            name;
   string            engine;
   string            key;
   BoundEvent        bound[];
  };

// Fills a deal's text field: UTF-8 cut between two characters, the rest zero.
void PutFixedText(const string text, uchar &field[])
  {
   uchar bytes[];
   const int room = ArraySize(field);
   const int whole = Utf8Bytes(text, bytes);
   const int size = Utf8Cut(bytes, whole, room);
   for(int i = 0; i < room; i++)
      field[i] = i < size ? bytes[i] : (uchar)0;
  }

// The text of a deal's text field.
string FixedTextOf(const uchar &field[])
  {
   int size = 0;
   while(size < ArraySize(field) && field[size] != 0)
      size++;
   return(Utf8Text(field, 0, size));
  }

#endif
