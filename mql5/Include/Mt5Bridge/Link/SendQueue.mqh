//| Bytes that wait to be sent: a ring of fixed size that knows where frames end.
#ifndef MT5BRIDGE_LINK_SEND_QUEUE_MQH
#define MT5BRIDGE_LINK_SEND_QUEUE_MQH

#include "..\Wire\ByteWriter.mqh"

// Positions count all bytes ever queued; the ring's index is the position modulo its size.
class SendQueue
  {
private:
   uchar             m_ring[];
   uchar             m_bytes[];
   int               m_capacity;
   ulong             m_begin;
   ulong             m_end;
   ulong             m_frame_ends[];
   int               m_frames_from;
   int               m_frames_to;

   void              Put(const uchar &data[], const int count)
     {
      const int at = (int)(m_end % (ulong)m_capacity);
      const int first = count < m_capacity - at ? count : m_capacity - at;
      ArrayCopy(m_ring, data, at, 0, first);
      if(first < count)
         ArrayCopy(m_ring, data, 0, first, count - first);
      m_end += (ulong)count;
     }

   // Notes that a frame ends here; ends that were passed make room first.
   void              NoteFrame(void)
     {
      if(m_frames_to == ArraySize(m_frame_ends) && 2 * m_frames_from > m_frames_to)
        {
         for(int i = m_frames_from; i < m_frames_to; i++)
            m_frame_ends[i - m_frames_from] = m_frame_ends[i];
         m_frames_to -= m_frames_from;
         m_frames_from = 0;
        }
      if(m_frames_to == ArraySize(m_frame_ends))
         ArrayResize(m_frame_ends, 2 * m_frames_to + 64);
      m_frame_ends[m_frames_to++] = m_end;
     }

public:
                     SendQueue(void) { Configure(4096); }

   // Holds at most `bytes_max` bytes; what it held is forgotten.
   void              Configure(const int bytes_max)
     {
      m_capacity = ArrayResize(m_ring, bytes_max);
      m_begin = 0;
      m_end = 0;
      m_frames_from = 0;
      m_frames_to = 0;
     }

   int               Size(void) const { return((int)(m_end - m_begin)); }
   int               Room(void) const { return(m_capacity - Size()); }
   // Positions of the next byte to be sent and of the next one to be queued.
   ulong             Begin(void) const { return(m_begin); }
   ulong             End(void) const { return(m_end); }
   // Frames that are not sent to their last byte.
   int               Frames(void) const { return(m_frames_to - m_frames_from); }

   // Queues what `head` and then `body` hold as one frame; false: no room, nothing taken.
   bool              AddFrame(const ByteWriter &head, const ByteWriter &body)
     {
      if(head.Size() + body.Size() > Room())
         return(false);
      Add(head);
      Add(body);
      NoteFrame();
      return(true);
     }

   // Queues bytes that are no frame of the session; false: no room, nothing taken.
   bool              Add(const ByteWriter &bytes)
     {
      if(bytes.Size() > Room())
         return(false);
      if(ArraySize(m_bytes) < bytes.Size())
         ArrayResize(m_bytes, bytes.Size());
      bytes.CopyTo(m_bytes, 0);
      if(bytes.Size() > 0)
         Put(m_bytes, bytes.Size());
      return(true);
     }

   // Copies the next bytes, as many as `chunk` has room for; returns how many.
   int               Peek(uchar &chunk[]) const
     {
      const int count = Size() < ArraySize(chunk) ? Size() : ArraySize(chunk);
      const int at = (int)(m_begin % (ulong)m_capacity);
      const int first = count < m_capacity - at ? count : m_capacity - at;
      if(first > 0)
         ArrayCopy(chunk, m_ring, 0, at, first);
      if(first < count)
         ArrayCopy(chunk, m_ring, first, 0, count - first);
      return(count);
     }

   // `count` bytes were sent; returns how many frames have their last byte among them.
   int               Consume(const int count)
     {
      m_begin += (ulong)count;
      const int before = m_frames_from;
      while(m_frames_from < m_frames_to && m_frame_ends[m_frames_from] <= m_begin)
         m_frames_from++;
      return(m_frames_from - before);
     }

   // Forgets everything; returns how many frames were not sent to their last byte.
   int               Clear(void)
     {
      const int dropped = Frames();
      m_begin = m_end;
      m_frames_from = 0;
      m_frames_to = 0;
      return(dropped);
     }
  };

#endif
