// Sends legs without waiting, and finds out what became of those that were sent.
#ifndef MT5BRIDGE_ORDERS_LEG_SENDING_MQH
#define MT5BRIDGE_ORDERS_LEG_SENDING_MQH

#include "OrderFinder.mqh"
#include "OrderReports.mqh"
#include "OrderSender.mqh"
#include "Retcodes.mqh"

#define LOOK_UP_MS 2000  // an unanswered order is looked for by its id

#define NO_JOURNAL_TEXT  "the order journal cannot be written, so nothing is executed"
#define TRADING_OFF_TEXT "trading is off in this terminal: set the input Trading"

class LegSending
  {
private:
   DeskSettings      m_settings;
   OrderSender       m_sender;
   OrderFinder       m_finder;

public:
   void              Begin(const DeskSettings &settings)
     {
      m_settings = settings;
      m_sender.Begin(settings);
      m_finder.Begin(settings.carrier);
     }

   // Sends a leg; true if that is over already. One that `may_wait` stays as it is while it cannot
   // be sent.
   bool              Send(OrderEntry *entry, const int index, const bool may_wait,
                          OrderReports &reports, const Moment &now)
     {
      if(Late(entry.request, now))
         return(reports.EndLeg(entry, index, RESULT_EXPIRED, 0, LateText(entry.request, now)
                               + Hindrance(entry.legs[index].text)));
      if(m_settings.trading != TRADING_LIVE)
         return(reports.EndLeg(entry, index, RESULT_REJECTED, 0, TRADING_OFF_TEXT));
      MqlTradeRequest trade;
      const string refusal = m_sender.Build(entry, index, trade, now);
      if(refusal != "" && may_wait && m_sender.Passing())
        {
         if(entry.legs[index].text == "")
            Print(IdText(entry.request.id), " ", entry.request.symbol, ": ", refusal, "; it waits");
         entry.legs[index].text = refusal;
         return(false);
        }
      if(refusal != "")
         return(reports.EndLeg(entry, index, RESULT_REJECTED, 0, refusal));
      entry.legs[index].state = LEG_SENT;
      entry.legs[index].text = "";
      entry.legs[index].sent_msc = MathMax(now.quoted_msc, (long)1);
      entry.legs[index].sent_by_msc = MathMax(now.quoted_msc, now.utc_msc + now.utc_offset_ms);
      entry.since_ms = now.ms;
      entry.doubtful = false;
      if(!reports.Sending(entry, index))
         return(!may_wait && reports.EndLeg(entry, index, RESULT_REJECTED, 0, NO_JOURNAL_TEXT));
      MqlTradeResult answer;
      ZeroMemory(answer);
      ResetLastError();
      const bool sent = OrderSendAsync(trade, answer);
      entry.request_id = answer.request_id;
      if(!sent && MeaningOf(answer.retcode) != RETCODE_UNCERTAIN)
         return(reports.EndLeg(entry, index, RESULT_REJECTED, answer.retcode,
                               StringFormat("%s (error %d)", RetcodeText(answer.retcode), GetLastError())));
      entry.doubtful = !sent;
      return(false);
     }

   // Why a leg has waited, for the text of its end.
   string            Hindrance(const string reason) const
     {
      return(reason == "" ? "" : ", before that " + reason);
     }

   // Whether the broker has this leg's order already, though the journal, which may have lost its end
   // with the power, does not know that it was sent: then it is followed.
   bool              Made(OrderEntry *entry, const int index, const BrokerView &view, OrderBook &book,
                          OrderReports &reports) const
     {
      const ulong order = entry.request.kind == ORDER_CLOSE ? m_finder.Find(entry, index, view, book)
                          : 0;
      return(order != 0 && reports.Identify(entry, index, order));
     }

   // What the broker says to a leg that was sent.
   void              TakeAnswer(OrderEntry *entry, const int index, const MqlTradeResult &answer,
                                OrderReports &reports)
     {
      const RetcodeMeaning meaning = MeaningOf(answer.retcode);
      if(meaning == RETCODE_UNCERTAIN)
        {
         entry.doubtful = true;
         return;
        }
      const bool changes = !Opens(entry.request) && entry.request.kind != ORDER_CLOSE;
      if(changes && (answer.retcode == TRADE_RETCODE_DONE
                     || answer.retcode == TRADE_RETCODE_NO_CHANGES))
         reports.EndLeg(entry, index, RESULT_EXECUTED, answer.retcode, "");
      else if(!changes && answer.order != 0)
        {
         // Also a refused order is one: it is followed to its end, so that nobody claims it later.
         entry.legs[index].retcode = meaning == RETCODE_ACCEPTED ? 0 : answer.retcode;
         reports.Identify(entry, index, answer.order);
        }
      else if(meaning != RETCODE_ACCEPTED)
         reports.EndLeg(entry, index, RESULT_REJECTED, answer.retcode, RetcodeText(answer.retcode)
                        + (answer.comment == "" ? "" : " (" + answer.comment + ")"));
     }

   // Looks for a leg that was sent and whose ticket is not known.
   bool              Resolve(OrderEntry *entry, const int index, const BrokerView &view,
                             OrderBook &book, OrderReports &reports, const Moment &now)
     {
      const bool restarted = entry.since_ms < 0;
      const bool connected = (bool)TerminalInfoInteger(TERMINAL_CONNECTED);
      if(restarted)
        {
         entry.since_ms = now.ms;
         entry.doubtful = true;
        }
      const long waited_ms = now.ms - entry.since_ms;
      if(!entry.doubtful && waited_ms < LOOK_UP_MS)
         return(false);
      const bool changes = !Opens(entry.request) && entry.request.kind != ORDER_CLOSE;
      OrderRequest own;
      LegRequest(entry, index, own);
      if(changes && m_finder.InPlace(own, entry.legs[index]))
         return(reports.EndLeg(entry, index, RESULT_EXECUTED, TRADE_RETCODE_DONE, ""));
      const ulong order = changes ? 0 : m_finder.Find(entry, index, view, book);
      if(order != 0)
         return(reports.Identify(entry, index, order));
      if(!connected)
        {
         entry.since_ms = now.ms;  // time counts only while the broker can be asked
         entry.doubtful = true;    // and the answer may have been missed
        }
      if(waited_ms < (entry.doubtful ? m_settings.reconcile_ms : ANSWER_MS) || !connected)
         return(false);
      return(reports.EndLeg(entry, index, RESULT_REJECTED, 0, "not found at the broker"));
     }
  };

#endif
