// From a program's request to the server's answer, and what the request does in between.
#include "broker.hpp"

#include "enums.hpp"

namespace mql::broker {

namespace {

Order order_from(const Request& request) {
  Order order;
  order.expiration_s = request.expiration_s;
  order.magic = request.magic;
  order.position_id = request.position;
  order.volume_initial = request.volume;
  order.price_open = request.price;
  order.price_stoplimit = request.stoplimit;
  order.sl = request.sl;
  order.tp = request.tp;
  order.type = request.type;
  order.filling = request.filling;
  order.time_type = request.time_type;
  order.reason = ORDER_REASON_EXPERT;
  order.symbol = request.symbol;
  order.comment = request.comment;
  return order;
}

Transaction told(const Request& request, const Answer& answer) {
  Notice notice;
  notice.type = TRADE_TRANSACTION_REQUEST;
  return {notice, request, answer};
}

bool accepted(u32 retcode) {
  return retcode == TRADE_RETCODE_PLACED || retcode == TRADE_RETCODE_DONE ||
         retcode == TRADE_RETCODE_DONE_PARTIAL;
}

}  // namespace

// Whether the request was sent (asynchronous) or accepted. It is in the log as being under way
// before the program hears anything, so that a crash leaves it to chance, as it does in reality.
bool Broker::send(Request request, Answer& answer, bool asynchronous) {
  std::string why;
  answer = {};
  answer.request_id = request.request_id = ++m_request_id;
  if (const u32 refusal = refusal_of_terminal(request, why)) {
    answer.retcode = refusal;
    answer.comment = why;
    return false;
  }
  request.serial = m_book.next_request();
  request.sent_msc = m_around.server_msc();
  commit({request}, "order_sent");
  const i64 latency = whole(random(), m_settings.latency_ms);
  if (asynchronous) {
    const auto task = [this, request] { arrive_at_server(request, true); };
    m_plan.at(m_around.steady_ms() + latency, task);
    answer.retcode = TRADE_RETCODE_PLACED;
    return true;
  }
  if (latency > 0)
    m_around.block_ms(latency);
  answer = work(request);
  m_deliveries.send(told(request, answer));
  m_deliveries.arrive(m_around.steady_ms());
  return accepted(answer.retcode);
}

void Broker::arrive_at_server(Request request, bool tell) {
  const Answer answer = work(request);
  if (tell)
    m_deliveries.send(told(request, answer));
}

// What the terminal refuses without asking the server.
u32 Broker::refusal_of_terminal(const Request& request, std::string& why) {
  if (!m_around.connected())
    return TRADE_RETCODE_CONNECTION;
  if (!m_around.trading_allowed())
    return TRADE_RETCODE_CLIENT_DISABLES_AT;
  if (m_settings.account_expert <= 0)
    return TRADE_RETCODE_SERVER_DISABLES_AT;
  return 0;
}

// The server's part. Chance may lose the request or its answer.
Answer Broker::work(const Request& request) {
  std::string why;
  if (happens(random(), m_settings.lost)) {
    Request lost = request;
    lost.outcome = Outcome::lost;
    commit({lost}, "request_lost");
    return {.retcode = TRADE_RETCODE_TIMEOUT, .comment = "", .request_id = request.request_id};
  }
  u32 retcode = scripted_refusal();
  retcode = retcode != 0 ? retcode : check_rate();
  retcode = retcode != 0 ? retcode : check(request, why);
  if (retcode != 0)
    return refuse(request, retcode, why);
  Answer answer;
  switch (request.action) {
    case TRADE_ACTION_DEAL: answer = deal(request); break;
    case TRADE_ACTION_PENDING: answer = place(request); break;
    case TRADE_ACTION_SLTP: answer = modify_stops(request); break;
    case TRADE_ACTION_MODIFY: answer = modify(request); break;
    case TRADE_ACTION_REMOVE: answer = remove(request); break;
    default: answer = close_by(request); break;
  }
  if (happens(random(), m_settings.timeout))
    return {.retcode = TRADE_RETCODE_TIMEOUT, .comment = "", .request_id = request.request_id};
  return answer;
}

Answer Broker::refuse(const Request& request, u32 retcode, const std::string& why) {
  Request refused = request;
  refused.outcome = Outcome::answered;
  refused.retcode = retcode;
  commit({refused}, "request_answered");
  const Quote quote = quote_of(request.symbol);
  return {.retcode = retcode,
          .bid = quote.bid,
          .ask = quote.ask,
          .comment = why,
          .request_id = request.request_id};
}

// Writes the request's changes and that it is answered as one batch: it is never worked twice.
Answer Broker::accept(const Request& request, Batch batch, Answer answer, const char* effect) {
  Request done = request;
  done.outcome = Outcome::answered;
  done.retcode = answer.retcode;
  done.made_order = answer.order;
  batch.push_back(done);
  answer.request_id = request.request_id;
  commit(batch, effect);
  return answer;
}

Answer Broker::deal(const Request& request) {
  Batch batch;
  Order order = order_from(request);
  order.triggered = true;
  order.price_open = request.type == ORDER_TYPE_BUY ? quote_of(request.symbol).ask
                                                    : quote_of(request.symbol).bid;
  const u64 ticket = new_order(batch, order);
  const std::size_t deals_before = m_book.deals.size();
  accept(request, batch, {.retcode = TRADE_RETCODE_PLACED, .order = ticket, .comment = ""},
         "order_accepted");
  work_order(ticket);
  return answer_of(request, ticket, deals_before);
}

// What can be said of a market order at the moment of the answer.
Answer Broker::answer_of(const Request& request, u64 ticket, std::size_t deals_before) {
  const Quote quote = quote_of(request.symbol);
  Answer answer{.order = ticket,
                .bid = quote.bid,
                .ask = quote.ask,
                .comment = "",
                .request_id = request.request_id};
  answer.retcode = TRADE_RETCODE_PLACED;
  const Order* ended = m_book.past_order(ticket);
  if (m_book.deals.size() > deals_before) {
    const Deal& last = m_book.deals.rbegin()->second;
    answer.deal = last.ticket;
    answer.price = last.price;
  }
  if (ended == nullptr)
    return answer;
  answer.volume = ended->volume_initial - ended->volume_current;
  answer.retcode = ended->volume_current <= 0 ? u32{TRADE_RETCODE_DONE}
                   : answer.volume > 0        ? u32{TRADE_RETCODE_DONE_PARTIAL}
                                              : u32{TRADE_RETCODE_CANCEL};
  return answer;
}

Answer Broker::place(const Request& request) {
  Batch batch;
  const u64 ticket = new_order(batch, order_from(request));
  return accept(request, batch,
                {.retcode = TRADE_RETCODE_DONE,
                 .order = ticket,
                 .volume = request.volume,
                 .price = request.price,
                 .comment = ""},
                "order_accepted");
}

Answer Broker::modify(const Request& request) {
  Order order = *m_book.order(request.order);
  order.price_open = request.price;
  order.price_stoplimit = request.stoplimit;
  order.sl = request.sl;
  order.tp = request.tp;
  order.time_type = request.time_type;
  order.expiration_s = request.expiration_s;
  return accept(request, {order},
                {.retcode = TRADE_RETCODE_DONE, .order = order.ticket, .comment = ""},
                "order_accepted");
}

Answer Broker::modify_stops(const Request& request) {
  Position position = hedging() || request.position != 0 ? *m_book.position(request.position)
                                                         : *m_book.position_of(request.symbol);
  position.sl = request.sl;
  position.tp = request.tp;
  position.time_update_msc = m_around.server_msc();
  return accept(request, {position}, {.retcode = TRADE_RETCODE_DONE, .comment = ""},
                "order_accepted");
}

Answer Broker::remove(const Request& request) {
  Batch batch;
  end_order(batch, *m_book.order(request.order), ORDER_STATE_CANCELED);
  return accept(request, batch,
                {.retcode = TRADE_RETCODE_DONE, .order = request.order, .comment = ""},
                "order_ended");
}

}  // namespace mql::broker
