//| What WELCOME said of our streams, and whether the daemon holds more than it said.
#ifndef MT5BRIDGE_SESSION_SETTLING
#define MT5BRIDGE_SESSION_SETTLING

#include "Streams.mqh"

// After a restart the daemon may still hold records of the earlier run that are not on its disk.
// If we numbered on behind `durable` at once, two records could get one number, and one of them
// would be lost. So a fresh stream waits until what was received is on disk, and greets again.
class Settling
  {
private:
   ResumeEntry m_resumes[];

public:
   void        Take(const WelcomeFrame &welcome);
   void        Resume(const string name, ResumeEntry &found) const;
   bool        Agrees(Streams &streams, const MarkEntry &marks[]) const;
   bool        OnDisk(const MarkEntry &marks[]) const;
  };

void Settling::Take(const WelcomeFrame &welcome)
  {
   int count = ArraySize(welcome.streams);
   ArrayResize(m_resumes, count);
   for(int i = 0; i < count; i++)
      m_resumes[i] = welcome.streams[i];
  }

// Where the daemon's disk stands in a stream; all 0 for an unknown one.
void Settling::Resume(const string name, ResumeEntry &found) const
  {
   found.durable = 0;
   found.time_msc = 0;
   found.count_at_msc = 0;
   found.name = name;
   for(int i = 0; i < ArraySize(m_resumes); i++)
      if(m_resumes[i].name == name)
        {
         found = m_resumes[i];
         return;
        }
  }

// Whether the daemon has received no more than what WELCOME said is on its disk.
bool Settling::Agrees(Streams &streams, const MarkEntry &marks[]) const
  {
   for(int i = 0; i < ArraySize(marks); i++)
     {
      Outbox *box = streams.At((int)marks[i].stream);
      if(box == NULL || box.Begun())
         continue;
      ResumeEntry resume;
      Resume(streams.Name((int)marks[i].stream), resume);
      if(marks[i].taken != resume.durable)
         return false;
     }
   return true;
  }

// Whether everything the daemon has received is on its disk by now.
bool Settling::OnDisk(const MarkEntry &marks[]) const
  {
   for(int i = 0; i < ArraySize(marks); i++)
      if(marks[i].taken != marks[i].passed)
         return false;
   return true;
  }

#endif
