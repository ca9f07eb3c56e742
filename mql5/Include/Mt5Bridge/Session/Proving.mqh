//| Proves to the daemon that we know the password, and has it prove the same (PROTOCOL.md 12.8).
#ifndef MT5BRIDGE_SESSION_PROVING
#define MT5BRIDGE_SESSION_PROVING

#include "../Wire/Decoder.mqh"
#include "../Wire/Encoder.mqh"
#include "Hmac.mqh"

enum ProvingResult
  {
   PROVING_ANSWERS,
   PROVING_DONE,
   PROVING_DENIED,     // the other side says that we do not know it
   PROVING_FOREIGN     // the other side does not know it
  };

// One connection's; nothing but what is in these frames is heard before it is done.
class Proving
  {
private:
   string         m_user;
   string         m_password;
   string         m_terminals;
   string         m_daemons;
   uint           m_count;

   string         Proof(const string prover) const
     {
      return HmacText(m_password, "mt5bridge proof 1\n" + prover + "\n" + m_user + "\n" + m_terminals + "\n" + m_daemons);
     }

public:
                  Proving(void) { m_count = 0; }

   // A new connection. The nonce has never been one before: times, a count, and what nobody else
   // knows are in it.
   void           Begin(const string user, const string password, const ulong instance, ChallengeFrame &challenge)
     {
      m_user = user;
      m_password = password;
      m_daemons = "";
      m_count++;
      string drawn = "mt5bridge nonce 1";
      drawn += "\n" + IntegerToString((long)instance);
      drawn += "\n" + IntegerToString(m_count);
      drawn += "\n" + IntegerToString((long)TimeLocal());
      drawn += "\n" + IntegerToString((long)GetMicrosecondCount());
      drawn += "\n" + IntegerToString(MathRand());
      m_terminals = StringSubstr(HmacText(password, drawn), 0, NONCE_DIGITS);
      challenge.nonce = m_terminals;
     }

   // Takes an opened frame.
   ProvingResult  Take(Decoder &decoder, ProofFrame &answer)
     {
      ChallengeFrame challenge;
      ProofFrame found;
      ErrorFrame error;
      if(decoder.Type() == FRAME_CHALLENGE && m_daemons == "" && decoder.Decode(challenge))
        {
         m_daemons = challenge.nonce;
         answer.proof = Proof("terminal");
         return answer.proof == "" ? PROVING_FOREIGN : PROVING_ANSWERS;
        }
      if(decoder.Type() == FRAME_PROOF && m_daemons != "" && decoder.Decode(found))
         return found.proof == Proof("daemon") ? PROVING_DONE : PROVING_FOREIGN;
      if(decoder.Type() == FRAME_ERROR && decoder.Decode(error))
         return PROVING_DENIED;
      return PROVING_FOREIGN;
     }
  };

#endif
