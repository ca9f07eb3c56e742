//| A good golden frame and a damaged one: the self-test must tell them apart.

#include <Mt5Bridge\SelfTest.mqh>

void OnStart()
  {
   SelfTest test;
   test.Frame("resend", "frame",
              "4d543542010800001400000089818a03010000002b000000000000003200000000000000");
   test.Frame("ack", "frame", "4d5435420107000000000000000000ff");
   test.Tell(false);
  }
