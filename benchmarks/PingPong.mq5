//| Sends a frame over our ZMTP client, waits for its echo, again and again; prints the times.
#property script_show_inputs

#include <Mt5Bridge\Link\Connection.mqh>

input int Port = 5655;     // Port of the ROUTER that echoes
input int Bytes = 100;     // Size of a frame, in bytes
input int Rounds = 1000;   // Round trips to measure
input int WaitMs = 5000;   // How long to wait for the link, in milliseconds

// Steps until a message has come; false when the link is lost.
bool Await(Connection &link, uchar &frame[], int &size)
  {
   while(!link.Receive(frame, size))
     {
      link.Step((long)(GetMicrosecondCount() / 1000));
      if(link.State() != LINK_UP || IsStopped())
         return(false);
     }
   return(true);
  }

// One line for each round trip, as the C program prints them.
void Measure(Connection &link)
  {
   ByteWriter frame;
   uchar echo[];
   int size = 0;
   for(int i = 0; i < Bytes; i++)
      frame.U1(7);
   for(int i = 0; i < Rounds; i++)
     {
      const ulong sent_us = GetMicrosecondCount();
      link.Send(frame);
      link.Flush((long)(sent_us / 1000));
      if(!Await(link, echo, size) || size != Bytes)
        {
         Print("lost: ", link.LastFailureText());
         return;
        }
      Print("us ", GetMicrosecondCount() - sent_us);
     }
   Print("done");
  }

void OnStart(void)
  {
   LinkSettings settings;
   LinkDefaults(settings);
   settings.port = Port;
   Connection link;
   if(!link.Configure(settings, 1))
     {
      Print("lost: ", link.SettingsError());
      return;
     }
   const ulong until_us = GetMicrosecondCount() + (ulong)WaitMs * 1000;
   while(link.State() != LINK_UP && GetMicrosecondCount() < until_us && !IsStopped())
      link.Step((long)(GetMicrosecondCount() / 1000));
   Measure(link);
   link.Close();
  }
