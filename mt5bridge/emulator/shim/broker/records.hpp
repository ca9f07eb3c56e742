// What the trade server keeps: orders, deals, positions, money, requests; and one change of them.
// `fields` names a record's members in the order of the log, for writing and reading alike;
// mt5bridge/emulator/broker_log.py reads the same order. Deals stand as in the wire's record.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace mql::broker {

using i32 = std::int32_t;
using i64 = std::int64_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum class Place : std::uint8_t { working = 0, history = 1 };

struct Order {
  u64 ticket = 0;
  i64 time_setup_msc = 0, time_done_msc = 0, expiration_s = 0;
  i64 magic = 0;
  u64 position_id = 0, position_by = 0;
  double volume_initial = 0, volume_current = 0;
  double price_open = 0, price_stoplimit = 0, sl = 0, tp = 0;
  i32 type = 0, state = 0, filling = 0, time_type = 0, reason = 0;
  u16 parts = 1, parts_done = 0;  // how many fills it takes, and has had
  bool triggered = false;         // fills have begun or may begin
  Place place = Place::working;
  std::string symbol, comment, external_id;

  template <class Archive> void fields(Archive& archive) {
    archive(ticket, time_setup_msc, time_done_msc, expiration_s, magic, position_id, position_by);
    archive(volume_initial, volume_current, price_open, price_stoplimit, sl, tp);
    archive(type, state, filling, time_type, reason, parts, parts_done, triggered, place);
    archive(symbol, comment, external_id);
  }
};

enum class Kind : u32 { add = 0, update = 1, remove = 2 };

struct Deal {
  u64 ticket = 0, order = 0;
  i64 time_msc = 0, magic = 0;
  u64 position_id = 0;
  double volume = 0, price = 0, commission = 0, swap = 0, profit = 0, fee = 0, sl = 0, tp = 0;
  u32 type = 0, entry = 0, reason = 0, revision = 0;
  Kind kind = Kind::add;
  std::string symbol, comment, external_id;

  template <class Archive> void fields(Archive& archive) {
    archive(ticket, order, time_msc, magic, position_id);
    archive(volume, price, commission, swap, profit, fee, sl, tp);
    archive(type, entry, reason, revision, kind, symbol, comment, external_id);
  }
};

struct Position {
  u64 ticket = 0, identifier = 0;
  i64 time_msc = 0, time_update_msc = 0, magic = 0;
  double volume = 0, price_open = 0, sl = 0, tp = 0, swap = 0;  // volume 0: closed
  i32 type = 0, reason = 0;
  std::string symbol, comment, external_id;

  template <class Archive> void fields(Archive& archive) {
    archive(ticket, identifier, time_msc, time_update_msc, magic);
    archive(volume, price_open, sl, tp, swap, type, reason, symbol, comment, external_id);
  }
};

struct Money {
  double balance = 0, credit = 0;

  template <class Archive> void fields(Archive& archive) { archive(balance, credit); }
};

enum class Outcome : std::uint8_t { sent = 0, answered = 1, lost = 2 };

// A program's request on its way to the server, and later what became of it.
struct Request {
  u64 serial = 0;
  i64 sent_msc = 0;
  u32 request_id = 0, retcode = 0;
  Outcome outcome = Outcome::sent;
  u64 made_order = 0;
  i32 action = 0, type = 0, filling = 0, time_type = 0;
  i64 magic = 0, expiration_s = 0;
  u64 order = 0, position = 0, position_by = 0, deviation = 0;
  double volume = 0, price = 0, stoplimit = 0, sl = 0, tp = 0;
  std::string symbol, comment;

  template <class Archive> void fields(Archive& archive) {
    archive(serial, sent_msc, request_id, retcode, outcome, made_order);
    archive(action, type, filling, time_type, magic, expiration_s);
    archive(order, position, position_by, deviation, volume, price, stoplimit, sl, tp);
    archive(symbol, comment);
  }
};

// The server's answer to a request.
struct Answer {
  u32 retcode = 0;
  u64 deal = 0, order = 0;
  double volume = 0, price = 0, bid = 0, ask = 0;
  std::string comment;
  u32 request_id = 0;
};

// A trade transaction before it is given MQL5's types.
struct Notice {
  i32 type = 0;
  u64 deal = 0, order = 0, position = 0, position_by = 0;
  i32 order_type = 0, order_state = 0, deal_type = 0, time_type = 0;
  i64 expiration_s = 0;
  double price = 0, price_trigger = 0, sl = 0, tp = 0, volume = 0;
  std::string symbol;
};

// The variant's index is the record's kind in the log.
using Change = std::variant<Order, Deal, Position, Money, Request>;
using Batch = std::vector<Change>;

}  // namespace mql::broker
