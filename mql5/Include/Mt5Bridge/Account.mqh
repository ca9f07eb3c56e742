//| The account: what HELLO says of it, and its state for ACCOUNT frames.
#ifndef MT5BRIDGE_ACCOUNT
#define MT5BRIDGE_ACCOUNT

#include "Session/Moment.mqh"
#include "Wire/Frames.mqh"

#define ACCOUNT_EVERY_MS 1000  // PROTOCOL: at most once a second

// Right after its start a terminal may not know its account, and so not who it is.
bool AccountKnown(void)
  {
   return AccountInfoInteger(ACCOUNT_LOGIN) != 0;
  }

// Nor the server's time: what is counted back from it would begin in 1970.
bool HistoryKnown(void)
  {
   return AccountKnown() && TimeCurrent() != 0;
  }

// "10000001@Broker-Server" and a suffix that tells this account's programs apart.
string DefaultIdentity(const string suffix)
  {
   string login = IntegerToString(AccountInfoInteger(ACCOUNT_LOGIN));
   return login + "@" + AccountInfoString(ACCOUNT_SERVER) + suffix;
  }

// A number that no other run of a program has: clocks, chart, and what MathRand gives.
ulong RandomInstance(void)
  {
   MathSrand((int)(GetTickCount() ^ (uint)ChartID()));
   ulong drawn = (ulong)TimeLocal();
   drawn = drawn * 1000003 + GetMicrosecondCount();
   drawn = drawn * 1000003 + (ulong)ChartID();
   for(int i = 0; i < 4; i++)
      drawn = drawn * 32771 + (ulong)MathRand();
   return drawn;
  }

// A name for files and folders: letters, digits, '.', '-', '@' stay, all else becomes '_' and its
// code, so that two names never become one ("EURUSD#" and "EURUSD!").
string SafeFileName(const string text)
  {
   string safe = "";
   for(int i = 0; i < StringLen(text); i++)
     {
      ushort c = StringGetCharacter(text, i);
      bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      bool other = (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '@';
      safe += letter || other ? StringSubstr(text, i, 1) : StringFormat("_%04X", (int)c);
     }
   return safe;
  }

// Who we are, but for the times, which the session fills in; an empty identity is the account's.
void FillHello(HelloFrame &hello, const string identity, const TradesMode trades, const string program)
  {
   hello.instance = RandomInstance();
   hello.account = (ulong)AccountInfoInteger(ACCOUNT_LOGIN);
   hello.time_msc = 0;
   hello.utc_offset_ms = 0;
   hello.leverage = (uint)AccountInfoInteger(ACCOUNT_LEVERAGE);
   hello.account_mode = (uchar)AccountInfoInteger(ACCOUNT_MARGIN_MODE);
   hello.demo = (uchar)(AccountInfoInteger(ACCOUNT_TRADE_MODE) == ACCOUNT_TRADE_MODE_DEMO ? 1 : 0);
   hello.trades = (uchar)trades;
   hello.identity = identity;
   hello.broker = AccountInfoString(ACCOUNT_COMPANY);
   hello.server = AccountInfoString(ACCOUNT_SERVER);
   hello.currency = AccountInfoString(ACCOUNT_CURRENCY);
   hello.program = program;
  }

// Reads the account's state and tells when it has changed.
class AccountReader
  {
private:
   AccountFrame m_told;
   long         m_due_ms;
   bool         m_forced;

public:
                AccountReader(void) { Forget(); m_due_ms = 0; }
   void         Forget(void) { m_forced = true; }
   bool         Changed(const Moment &now, AccountFrame &frame);
   void         Told(const AccountFrame &frame) { m_told = frame; m_forced = false; }

private:
   void         Read(AccountFrame &frame) const;
   uchar        Allowed(void) const;
   bool         Differs(const AccountFrame &frame) const;
  };

// Whether there is something to tell, at most once a second; call Told() when it is sent.
bool AccountReader::Changed(const Moment &now, AccountFrame &frame)
  {
   if(!m_forced && now.ms < m_due_ms)
      return false;
   m_due_ms = now.ms + ACCOUNT_EVERY_MS;
   Read(frame);
   frame.time_msc = now.utc_msc;
   return m_forced || Differs(frame);
  }

void AccountReader::Read(AccountFrame &frame) const
  {
   frame.balance = AccountInfoDouble(ACCOUNT_BALANCE);
   frame.credit = AccountInfoDouble(ACCOUNT_CREDIT);
   frame.profit = AccountInfoDouble(ACCOUNT_PROFIT);
   frame.equity = AccountInfoDouble(ACCOUNT_EQUITY);
   frame.margin = AccountInfoDouble(ACCOUNT_MARGIN);
   frame.margin_free = AccountInfoDouble(ACCOUNT_MARGIN_FREE);
   frame.positions = (uint)PositionsTotal();
   frame.orders = (uint)OrdersTotal();
   frame.allowed = Allowed();
  }

uchar AccountReader::Allowed(void) const
  {
   int allowed = 0;
   if((bool)TerminalInfoInteger(TERMINAL_CONNECTED))
      allowed |= ALLOWED_CONNECTED;
   if((bool)TerminalInfoInteger(TERMINAL_TRADE_ALLOWED))
      allowed |= ALLOWED_TERMINAL;
   if((bool)MQLInfoInteger(MQL_TRADE_ALLOWED))
      allowed |= ALLOWED_PROGRAM;
   if((bool)AccountInfoInteger(ACCOUNT_TRADE_ALLOWED))
      allowed |= ALLOWED_ACCOUNT;
   if((bool)AccountInfoInteger(ACCOUNT_TRADE_EXPERT))
      allowed |= ALLOWED_EXPERTS;
   return (uchar)allowed;
  }

bool AccountReader::Differs(const AccountFrame &frame) const
  {
   bool money = frame.balance != m_told.balance || frame.credit != m_told.credit
                || frame.profit != m_told.profit || frame.equity != m_told.equity
                || frame.margin != m_told.margin || frame.margin_free != m_told.margin_free;
   return money || frame.positions != m_told.positions || frame.orders != m_told.orders
          || frame.allowed != m_told.allowed;
  }

#endif
