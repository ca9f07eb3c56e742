//| Where the daemon is and how long anything on the way to it may take.
#ifndef MT5BRIDGE_LINK_SETTINGS_MQH
#define MT5BRIDGE_LINK_SETTINGS_MQH

#include "Credential.mqh"
#include "ZmtpOutput.mqh"

#define LINK_SEND_BYTES_MIN 1200000
#define LINK_CHALLENGE      "mt5bridge challenge 1"

// All times are milliseconds of a steady clock. Without a user, the credential's file is read.
struct LinkSettings
  {
   string            host;
   int               port;
   string            user;
   string            password;
   string            credential_file;
   bool              proves;          // it is proved that the password is known, and not said
   int               connect_ms;      // what the first attempt to connect may take
   int               connect_ms_max;  // and one after others that took all they might
   int               handshake_ms;
   int               io_ms;
   int               step_ms;
   int               ping_ms;
   int               silence_ms;
   int               send_bytes_max;
   int               pause_first_ms;
   int               pause_max_ms;
  };

// No step longer than 50 ms, no attempt to connect to this machine longer than 250.
void LinkDefaults(LinkSettings &settings)
  {
   settings.host = "127.0.0.1";
   settings.port = 5655;
   settings.user = "";
   settings.password = "";
   settings.credential_file = CREDENTIAL_FILE;
   settings.proves = false;
   settings.connect_ms = 250;
   settings.connect_ms_max = 1000;
   settings.handshake_ms = 5000;
   settings.io_ms = 20;
   settings.step_ms = 50;
   settings.ping_ms = 2000;
   settings.silence_ms = 10000;
   settings.send_bytes_max = 4194304;
   settings.pause_first_ms = 50;
   settings.pause_max_ms = 2000;
  }

// Whether a text fits where ZMTP has a length of one byte.
bool FitsShortText(const string text)
  {
   uchar bytes[];
   return(Utf8Bytes(text, bytes) <= ZMTP_SHORT_MAX);
  }

// What is wrong with the settings and how to mend it; empty if nothing is.
string LinkSettingsError(const LinkSettings &settings)
  {
   if(settings.host == "")
      return("no address: give the daemon's, for example 127.0.0.1");
   if(settings.port < 1 || settings.port > 65535)
      return("port " + IntegerToString(settings.port) + ": give one of 1 to 65535");
   if(!FitsShortText(settings.user) || !FitsShortText(settings.password))
      return("user and password have at most 255 bytes");
   if(settings.user == "" && settings.password != "")
      return("a password without a user");
   if(settings.connect_ms < 1 || settings.handshake_ms < 1)
      return("connect_ms and handshake_ms must be at least 1");
   if(settings.connect_ms_max < settings.connect_ms)
      return("connect_ms_max must not be less than connect_ms");
   if(settings.io_ms < 1 || settings.step_ms < settings.io_ms)
      return("io_ms must be at least 1 and step_ms not less");
   if(settings.ping_ms < 1 || settings.silence_ms < settings.ping_ms)
      return("ping_ms must be at least 1 and silence_ms not less");
   if(settings.send_bytes_max < LINK_SEND_BYTES_MIN)
      return("send_bytes_max must be at least " + IntegerToString(LINK_SEND_BYTES_MIN));
   if(settings.pause_first_ms < 1 || settings.pause_max_ms < settings.pause_first_ms)
      return("pause_first_ms must be at least 1 and pause_max_ms not less");
   return("");
  }

// Whether an address is this machine's: where nobody listens there, Windows tries for two seconds.
bool IsThisMachine(const string host)
  {
   return(host == "localhost" || host == "::1" || StringFind(host, "127.") == 0);
  }

#endif
