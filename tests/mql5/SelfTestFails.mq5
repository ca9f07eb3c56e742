//| A good golden frame and a damaged one: the self-test must tell them apart.

#include <Mt5Bridge\SelfTest.mqh>

void OnStart()
  {
   SelfTest test;
   test.Frame("resend", "frame",
              "4d5435420208000014000000ae865401010000002b000000000000003200000000000000");
   test.Frame("ack", "frame", "4d5435420207000000000000000000ff");
   test.Tell(false);
  }
