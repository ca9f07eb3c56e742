//| Numbers on the wire and their names, and the limits (PROTOCOL.md sections 3, 4, 9 and 11).
#ifndef MT5BRIDGE_WIRE_CODES_MQH
#define MT5BRIDGE_WIRE_CODES_MQH

#define WIRE_VERSION       2
#define WIRE_MAGIC         0x4235544D
#define HEADER_BYTES       16
#define CHECKSUM_AT        12
#define BODY_BYTES_MAX     1048576
#define FRAME_BYTES_MAX    1048592
#define TEXT_BYTES_MAX     1024
#define IDENTITY_BYTES_MAX 128
#define SYMBOL_BYTES_MAX   32
#define TICK_BYTES         60
#define DEAL_BYTES         252
#define TICKS_MAX          16384
#define DEALS_MAX          4096
#define ASK_IDS_MAX        1024
#define DEALS_STREAM       0
#define UTC_OFFSET_MS_MAX  86400000
#define SEQUENCE_MAX       0x7FFFFFFFFFFFFFFF
#define SYMBOLS_MAX        16384
#define STREAMS_MAX        16385               // of one terminal: its symbols and its deals
#define EVENT_LIST_MAX     1024                // entries, complex events, simple events of one, fields
#define SESSIONS_MAX       64                  // trade sessions of a symbol in a week
#define CURRENCY_BYTES_MAX 32
#define MINUTES_A_DAY      1440
#define DAYS_A_WEEK        7
#define NONCE_DIGITS       32
#define PROOF_DIGITS       64
#define TIME_MSC_MIN       (-62135596800000)   // the years 1 to 9999
#define TIME_MSC_MAX       253402300799999

// The type byte of a frame's header.
enum FrameType
  {
   FRAME_HELLO = 1,
   FRAME_WELCOME = 2,
   FRAME_SYMBOLS = 3,
   FRAME_TICKS = 4,
   FRAME_DEALS = 5,
   FRAME_HEARTBEAT = 6,
   FRAME_ACK = 7,
   FRAME_RESEND = 8,
   FRAME_LOST = 9,
   FRAME_SIGNAL = 10,
   FRAME_SIGNAL_RESULT = 11,
   FRAME_ERROR = 12,
   FRAME_BYE = 13,
   FRAME_ACCOUNT = 14,
   FRAME_ORDER = 15,
   FRAME_ASK = 16,
   FRAME_HALT = 17,
   FRAME_RECOUNT = 18,
   FRAME_SUBSCRIBE = 19,
   FRAME_SUBSCRIBED = 20,
   FRAME_EVENT = 21,
   FRAME_CHALLENGE = 22,
   FRAME_PROOF = 23,
   FRAME_SIGNAL_ORDER = 24,
   FRAME_PROPERTIES = 25
  };

// Why bytes are not a frame (PROTOCOL.md 3.2).
enum WireReason
  {
   WIRE_OK = 0,
   WIRE_TRUNCATED,
   WIRE_BAD_MAGIC,
   WIRE_WRONG_VERSION,
   WIRE_BAD_FLAGS,
   WIRE_OVERSIZED,
   WIRE_TRAILING_BYTES,
   WIRE_BAD_CHECKSUM,
   WIRE_UNKNOWN_TYPE,
   WIRE_BAD_TEXT,
   WIRE_BAD_VALUE,
   WIRE_MULTIPART
  };

// The reason's name in PROTOCOL.md; "frame" when there is none.
string WireReasonText(const WireReason reason)
  {
   switch(reason)
     {
      case WIRE_OK:             return("frame");
      case WIRE_TRUNCATED:      return("truncated");
      case WIRE_BAD_MAGIC:      return("bad_magic");
      case WIRE_WRONG_VERSION:  return("wrong_version");
      case WIRE_BAD_FLAGS:      return("bad_flags");
      case WIRE_OVERSIZED:      return("oversized");
      case WIRE_TRAILING_BYTES: return("trailing_bytes");
      case WIRE_BAD_CHECKSUM:   return("bad_checksum");
      case WIRE_UNKNOWN_TYPE:   return("unknown_type");
      case WIRE_BAD_TEXT:       return("bad_text");
      case WIRE_BAD_VALUE:      return("bad_value");
      case WIRE_MULTIPART:      return("multipart");
     }
   return("?");
  }

// Why the other side refused something (section 9).
enum ErrorCode
  {
   ERROR_BAD_FRAME = 1,
   ERROR_WRONG_VERSION = 2,
   ERROR_HELLO_FIRST = 3,
   ERROR_IDENTITY_IN_USE = 4,
   ERROR_SUPERSEDED = 5,
   ERROR_UNKNOWN_STREAM = 6,
   ERROR_UNEXPECTED_FRAME = 7,
   ERROR_LIMIT = 8,
   ERROR_NOT_ALLOWED = 9
  };

// How an account keeps positions (HELLO).
enum AccountModeCode
  {
   ACCOUNT_NETTING = 0,
   ACCOUNT_EXCHANGE = 1,
   ACCOUNT_HEDGING = 2
  };

// Whether a program executes signals and orders (HELLO).
enum TradesMode
  {
   TRADES_NOTHING = 0,
   TRADES_ORDERS = 1,
   TRADES_DRY_RUN = 2
  };

// What the swaps of a symbol are, for each lot and night (PROPERTIES).
enum SwapModeCode
  {
   SWAP_IS_UNTOLD = 0,
   SWAP_IS_NONE = 1,
   SWAP_IS_POINTS = 2,
   SWAP_IS_MONEY = 3,
   SWAP_IS_PERCENT = 4
  };

// Why an interval cannot be sent again (LOST).
enum LostReason
  {
   LOST_OTHER = 0,
   LOST_DISCARDED = 1,
   LOST_NOT_IN_TICK_BASE = 2,
   LOST_OVERFLOW = 3
  };

// What a signal asks for.
enum SignalSide
  {
   SIGNAL_BUY = 0,
   SIGNAL_SELL = 1,
   SIGNAL_CLOSE = 2
  };

// What an order asks for.
enum OrderKind
  {
   ORDER_MARKET = 0,
   ORDER_LIMIT = 1,
   ORDER_STOP = 2,
   ORDER_MODIFY = 3,
   ORDER_CANCEL = 4,
   ORDER_CLOSE = 5
  };

// The side of an order.
enum OrderSide
  {
   ORDER_BUY = 0,
   ORDER_SELL = 1,
   ORDER_NO_SIDE = 2
  };

// What became of a signal or an order (SIGNAL_RESULT).
enum ResultStatus
  {
   RESULT_RECEIVED = 0,
   RESULT_PARTIAL = 1,
   RESULT_EXECUTED = 2,
   RESULT_REJECTED = 3,
   RESULT_EXPIRED = 4,
   RESULT_DRY_RUN = 5,
   RESULT_PLACED = 6,
   RESULT_CANCELLED = 7,
   RESULT_UNKNOWN = 8
  };

// What a deal record says about its ticket.
enum DealRecordKind
  {
   DEAL_RECORD_ADD = 0,
   DEAL_RECORD_UPDATE = 1,
   DEAL_RECORD_DELETE = 2
  };

// What an entry of SUBSCRIBE says.
enum WantedCode
  {
   WANTED_ALL = 0,
   WANTED_ENGINE = 1,
   WANTED_NAMED = 2,
   WANTED_KNOWN = 3
  };

// What a field of a simple event holds (EVENT).
enum FieldKind
  {
   FIELD_NULL = 0,
   FIELD_BOOL = 1,
   FIELD_WHOLE = 2,
   FIELD_NUMBER = 3,
   FIELD_TEXT = 4
  };

// Bits of ACCOUNT's `allowed`.
enum AllowedBit
  {
   ALLOWED_CONNECTED = 1,
   ALLOWED_TERMINAL = 2,
   ALLOWED_PROGRAM = 4,
   ALLOWED_ACCOUNT = 8,
   ALLOWED_EXPERTS = 16
  };

#endif
