// Does the steps of its input one after the other, and prints everything the broker tells it.
#property version "1.00"

// Steps are separated by `;`, their words by blanks:
//   send|async|check name=value ...   a request; @0 is the ticket of position or order number 0
//   wait ROUNDS                       so many timer rounds
//   below|above PRICE                 until the bid is there
//   after SECONDS                     until the server's time, since 1970, is that
//   cut|joined                        until the connection to the trade server is gone or there
//   show                              the account, open and past
//   traps                             what selecting single deals does to a list
input string Steps = "";

string steps[];
int    step = 0;
int    rounds = 0;

int OnInit()
  {
   StringSplit(Steps, ';', steps);
   EventSetMillisecondTimer(1);
   return INIT_SUCCEEDED;
  }

void OnDeinit(const int reason)
  {
   PrintFormat("deinit %d", reason);
  }

void OnTimer()
  {
   MqlTick tick;
   if(step >= ArraySize(steps) || !SymbolInfoTick(_Symbol, tick))
      return;
   if(!Do(steps[step], tick))
      return;
   rounds = 0;
   step++;
   if(step == ArraySize(steps))
      Print("done");
  }

void OnTrade()
  {
   Print("trade");
  }

void OnTradeTransaction(const MqlTradeTransaction &transaction, const MqlTradeRequest &request,
                        const MqlTradeResult &result)
  {
   PrintFormat("transaction %d deal=%I64u order=%I64u state=%d volume=%g position=%I64u retcode=%u"
               " id=%u action=%d",
               transaction.type, transaction.deal, transaction.order, transaction.order_state,
               transaction.volume, transaction.position, result.retcode, result.request_id,
               request.action);
  }

// True when the step is over.
bool Do(const string text, const MqlTick &tick)
  {
   string words[];
   const int count = StringSplit(text, ' ', words);
   if(words[0] == "wait")
     {
      rounds++;
      return rounds >= StringToInteger(words[1]);
     }
   if(words[0] == "below")
      return tick.bid < StringToDouble(words[1]);
   if(words[0] == "above")
      return tick.bid > StringToDouble(words[1]);
   if(words[0] == "after")
      return TimeCurrent() >= StringToInteger(words[1]);
   if(words[0] == "cut" || words[0] == "joined")
      return (TerminalInfoInteger(TERMINAL_CONNECTED) != 0) == (words[0] == "joined");
   if(words[0] == "show")
      Show();
   else if(words[0] == "traps")
      Traps();
   else
      Request(words, count);
   return true;
  }

ulong Ticket(const string text, const bool position)
  {
   if(StringGetCharacter(text, 0) != '@')
      return (ulong)StringToInteger(text);
   const int index = (int)StringToInteger(StringSubstr(text, 1));
   return position ? PositionGetTicket(index) : OrderGetTicket(index);
  }

void Fill(MqlTradeRequest &request, const string name, const string text)
  {
   if(name == "action")
      request.action = (ENUM_TRADE_REQUEST_ACTIONS)StringToInteger(text);
   else if(name == "type")
      request.type = (ENUM_ORDER_TYPE)StringToInteger(text);
   else if(name == "filling")
      request.type_filling = (ENUM_ORDER_TYPE_FILLING)StringToInteger(text);
   else if(name == "time")
      request.type_time = (ENUM_ORDER_TYPE_TIME)StringToInteger(text);
   else if(name == "expiration")
      request.expiration = (datetime)(TimeCurrent() + StringToInteger(text));
   else if(name == "symbol")
      request.symbol = text;
   else if(name == "comment")
      request.comment = text;
   else if(name == "magic")
      request.magic = (ulong)StringToInteger(text);
   else if(name == "volume")
      request.volume = StringToDouble(text);
   else if(name == "price")
      request.price = StringToDouble(text);
   else if(name == "sl")
      request.sl = StringToDouble(text);
   else if(name == "tp")
      request.tp = StringToDouble(text);
   else if(name == "position")
      request.position = Ticket(text, true);
   else if(name == "by")
      request.position_by = Ticket(text, true);
   else if(name == "order")
      request.order = Ticket(text, false);
   else
      Print("unknown word ", name);
  }

void Request(const string &words[], const int count)
  {
   MqlTradeRequest request;
   MqlTradeResult result;
   ZeroMemory(request);
   ZeroMemory(result);
   request.action = TRADE_ACTION_DEAL;
   request.symbol = _Symbol;
   request.volume = 0.1;
   request.type_filling = ORDER_FILLING_IOC;
   for(int i = 1; i < count; i++)
     {
      string pair[];
      StringSplit(words[i], '=', pair);
      Fill(request, pair[0], pair[1]);
     }
   ResetLastError();
   if(words[0] == "check")
     {
      MqlTradeCheckResult checked;
      const bool good = OrderCheck(request, checked);
      PrintFormat("checked %d retcode=%u margin=%.2f", good, checked.retcode, checked.margin);
      return;
     }
   const ulong begin = GetMicrosecondCount();
   const bool sent = words[0] == "async" ? OrderSendAsync(request, result)
                                         : OrderSend(request, result);
   PrintFormat("sent %d retcode=%u deal=%I64u order=%I64u volume=%g price=%.5f id=%u error=%d"
               " ms=%d text=%s",
               sent, result.retcode, result.deal, result.order, result.volume, result.price,
               result.request_id, GetLastError(), (int)((GetMicrosecondCount() - begin) / 1000),
               result.comment);
  }

void Show()
  {
   PrintFormat("account balance=%.2f equity=%.2f margin=%.2f profit=%.2f login=%I64d mode=%d"
               " server=%s",
               AccountInfoDouble(ACCOUNT_BALANCE), AccountInfoDouble(ACCOUNT_EQUITY),
               AccountInfoDouble(ACCOUNT_MARGIN), AccountInfoDouble(ACCOUNT_PROFIT),
               AccountInfoInteger(ACCOUNT_LOGIN), (int)AccountInfoInteger(ACCOUNT_MARGIN_MODE),
               AccountInfoString(ACCOUNT_SERVER));
   for(int i = 0; i < PositionsTotal(); i++)
     {
      const ulong ticket = PositionGetTicket(i);
      PrintFormat("position ticket=%I64u id=%I64d type=%d volume=%g price=%.5f sl=%.5f magic=%I64d"
                  " comment=%s",
                  ticket, PositionGetInteger(POSITION_IDENTIFIER),
                  (int)PositionGetInteger(POSITION_TYPE), PositionGetDouble(POSITION_VOLUME),
                  PositionGetDouble(POSITION_PRICE_OPEN), PositionGetDouble(POSITION_SL),
                  PositionGetInteger(POSITION_MAGIC), PositionGetString(POSITION_COMMENT));
     }
   for(int i = 0; i < OrdersTotal(); i++)
     {
      const ulong ticket = OrderGetTicket(i);
      PrintFormat("order ticket=%I64u type=%d state=%d volume=%g left=%g", ticket,
                  (int)OrderGetInteger(ORDER_TYPE), (int)OrderGetInteger(ORDER_STATE),
                  OrderGetDouble(ORDER_VOLUME_INITIAL), OrderGetDouble(ORDER_VOLUME_CURRENT));
     }
   ShowHistory();
  }

void ShowHistory()
  {
   HistorySelect(0, TimeCurrent() + 86400);
   for(int i = 0; i < HistoryOrdersTotal(); i++)
     {
      const ulong ticket = HistoryOrderGetTicket(i);
      PrintFormat("past ticket=%I64u state=%s volume=%g left=%g magic=%I64d comment=%s", ticket,
                  EnumToString((ENUM_ORDER_STATE)HistoryOrderGetInteger(ticket, ORDER_STATE)),
                  HistoryOrderGetDouble(ticket, ORDER_VOLUME_INITIAL),
                  HistoryOrderGetDouble(ticket, ORDER_VOLUME_CURRENT),
                  HistoryOrderGetInteger(ticket, ORDER_MAGIC),
                  HistoryOrderGetString(ticket, ORDER_COMMENT));
     }
   for(int i = 0; i < HistoryDealsTotal(); i++)
     {
      const ulong ticket = HistoryDealGetTicket(i);
      PrintFormat("deal ticket=%I64u order=%I64d type=%d entry=%d reason=%d volume=%g price=%.5f"
                  " profit=%.2f swap=%.2f magic=%I64d position=%I64d comment=%s",
                  ticket, HistoryDealGetInteger(ticket, DEAL_ORDER),
                  (int)HistoryDealGetInteger(ticket, DEAL_TYPE),
                  (int)HistoryDealGetInteger(ticket, DEAL_ENTRY),
                  (int)HistoryDealGetInteger(ticket, DEAL_REASON),
                  HistoryDealGetDouble(ticket, DEAL_VOLUME),
                  HistoryDealGetDouble(ticket, DEAL_PRICE),
                  HistoryDealGetDouble(ticket, DEAL_PROFIT),
                  HistoryDealGetDouble(ticket, DEAL_SWAP),
                  HistoryDealGetInteger(ticket, DEAL_MAGIC),
                  HistoryDealGetInteger(ticket, DEAL_POSITION_ID),
                  HistoryDealGetString(ticket, DEAL_COMMENT));
     }
  }

void Traps()
  {
   HistorySelect(0, TimeCurrent() + 86400);
   const ulong first = HistoryDealGetTicket(0);
   const ulong last = HistoryDealGetTicket(HistoryDealsTotal() - 1);
   const int all = HistoryDealsTotal();
   const int orders = HistoryOrdersTotal();
   HistoryDealSelect(last);
   PrintFormat("trap deals %d then %d, orders %d then %d", all, HistoryDealsTotal(), orders,
               HistoryOrdersTotal());
   ResetLastError();
   const double hidden = HistoryDealGetDouble(first, DEAL_PROFIT);
   PrintFormat("trap hidden %g error %d", hidden, GetLastError());
   ResetLastError();
   const bool found = HistoryDealSelect(1);
   PrintFormat("trap found %d error %d still %d", found, GetLastError(), HistoryDealsTotal());
   ResetLastError();
   const bool position = PositionSelectByTicket(1);
   PrintFormat("trap position %d error %d", position, GetLastError());
  }
