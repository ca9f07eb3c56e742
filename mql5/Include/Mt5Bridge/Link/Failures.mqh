//| Why a link to the daemon was not made or came down, and what that means to the user.
#ifndef MT5BRIDGE_LINK_FAILURES_MQH
#define MT5BRIDGE_LINK_FAILURES_MQH

// The last one is no failure but their number.
enum LinkFailure
  {
   LINK_NO_FAILURE = 0,
   LINK_NO_CREDENTIAL,
   LINK_BAD_CREDENTIAL,
   LINK_NOT_ALLOWED,
   LINK_CONNECT_FAILED,
   LINK_SIGNATURE,
   LINK_VERSION,
   LINK_MECHANISM,
   LINK_SOCKET_TYPE,
   LINK_DENIED,
   LINK_MALFORMED,
   LINK_TOO_LONG,
   LINK_HANDSHAKE_TIMEOUT,
   LINK_HANDSHAKE_CLOSED,
   LINK_SILENT,
   LINK_PEER_CLOSED,
   LINK_READ_FAILED,
   LINK_SEND_FAILED,
   LINK_SEND_STALLED,
   LINK_DROPPED,
   LINK_FOREIGN,
   LINK_FAILURES
  };

// One sentence for the user.
string LinkFailureText(const LinkFailure failure)
  {
   switch(failure)
     {
      case LINK_NO_FAILURE:
         return("no failure");
      case LINK_NO_CREDENTIAL:
         return("no credential: run `mt5cep terminal install --config FILE` with the daemon's settings");
      case LINK_BAD_CREDENTIAL:
         return("the credential is damaged: run `mt5cep terminal install --config FILE` again");
      case LINK_NOT_ALLOWED:
         return("the address is not allowed: add it in Tools, Options, Expert Advisors");
      case LINK_CONNECT_FAILED:
         return("nobody accepts connections at this address: is the daemon running?");
      case LINK_SIGNATURE:
         return("the other side does not speak ZMTP: is this the daemon's port?");
      case LINK_VERSION:
         return("the other side speaks an older ZMTP than 3.0");
      case LINK_MECHANISM:
         return("the other side does not ask for a user: is the daemon of an older version?");
      case LINK_SOCKET_TYPE:
         return("the other side is no ROUTER: is this the daemon's port?");
      case LINK_DENIED:
         return("the daemon refuses the credential: run `mt5cep terminal install --config FILE` with its settings, or mend User and Password");
      case LINK_MALFORMED:
         return("the other side sent what is not ZMTP");
      case LINK_TOO_LONG:
         return("the other side announced a frame above the limit");
      case LINK_HANDSHAKE_TIMEOUT:
         return("the other side did not finish the handshake in time");
      case LINK_HANDSHAKE_CLOSED:
         return("the other side closed during the handshake: is this the daemon's port, and is it of this version?");
      case LINK_SILENT:
         return("the other side does not answer any more");
      case LINK_PEER_CLOSED:
         return("the other side closed the connection");
      case LINK_READ_FAILED:
         return("reading from the connection failed");
      case LINK_SEND_FAILED:
         return("sending to the connection failed");
      case LINK_SEND_STALLED:
         return("the other side takes nothing any more");
      case LINK_DROPPED:
         return("the session gave the connection up");
      case LINK_FOREIGN:
         return("who listens there does not know the password, so it is not the daemon; it was told nothing: which program has the port?");
      case LINK_FAILURES:
         break;
     }
   return("?");
  }

#endif
