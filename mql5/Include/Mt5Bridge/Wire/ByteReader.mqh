//| A cursor over received bytes that never leaves them and keeps the first failure.
#ifndef MT5BRIDGE_WIRE_BYTE_READER_MQH
#define MT5BRIDGE_WIRE_BYTE_READER_MQH

#include "Frames.mqh"
#include "DoubleBits.mqh"

// After a failure every further read gives zeros and the reason stays.
class ByteReader
  {
private:
   uchar             m_data[];
   int               m_at;
   int               m_end;
   WireReason        m_reason;

public:
                     ByteReader(void) { Close(); }

   // Reads `count` bytes of `data` from `from` on; they are copied.
   void              Open(const uchar &data[], const int from, const int count)
     {
      if(ArraySize(m_data) < count)
         ArrayResize(m_data, count);
      if(count > 0)
         ArrayCopy(m_data, data, 0, from, count);
      m_at = 0;
      m_end = count;
      m_reason = WIRE_OK;
     }

   // Nothing to read.
   void              Close(void)
     {
      m_at = 0;
      m_end = 0;
      m_reason = WIRE_OK;
     }

   WireReason        Reason(void) const { return(m_reason); }
   bool              Good(void) const { return(m_reason == WIRE_OK); }
   int               Left(void) const { return(m_end - m_at); }

   // Fails with `reason` unless something failed before.
   void              Fail(const WireReason reason)
     {
      if(m_reason == WIRE_OK)
         m_reason = reason;
     }

   // Fails with bad_value unless `condition` holds.
   void              Require(const bool condition)
     {
      if(!condition)
         Fail(WIRE_BAD_VALUE);
     }

   // The place of the next `size` bytes, which count as read; -1 if they are not there.
   int               Skip(const long size)
     {
      if(m_reason == WIRE_OK && size > (long)Left())
         Fail(WIRE_TRUNCATED);
      if(m_reason != WIRE_OK)
         return(-1);
      const int at = m_at;
      m_at += (int)size;
      return(at);
     }

   uchar             U1(void)
     {
      const int at = Skip(1);
      return(at < 0 ? (uchar)0 : m_data[at]);
     }

   ushort            U2(void)
     {
      const int at = Skip(2);
      return(at < 0 ? (ushort)0 : (ushort)((uint)m_data[at] | ((uint)m_data[at + 1] << 8)));
     }

   uint              U4(void)
     {
      const int at = Skip(4);
      return(at < 0 ? 0 : U4At(at));
     }

   ulong             U8(void)
     {
      const int at = Skip(8);
      return(at < 0 ? 0 : (ulong)U4At(at) | ((ulong)U4At(at + 4) << 32));
     }

   int               I4(void) { return((int)U4()); }
   long              I8(void) { return((long)U8()); }

   double            F8(void)
     {
      DoubleBits both;
      both.bits = U8();
      return(both.number);
     }

   // A length and so many bytes of UTF-8 without zeros.
   string            Text(void)
     {
      const int size = (int)U2();
      const int at = Skip(size);
      if(at < 0)
         return("");
      if(size > TEXT_BYTES_MAX || !Utf8Valid(m_data, at, size))
        {
         Fail(WIRE_BAD_TEXT);
         return("");
        }
      return(Utf8Text(m_data, at, size));
     }

   // The bytes of a fixed field, whatever they are.
   void              Fixed(uchar &field[], const int size)
     {
      const int at = Skip(size);
      if(at >= 0)
         ArrayCopy(field, m_data, 0, at, size);
     }

   // A count and so many ticks.
   void              Ticks(MqlTick &ticks[])
     {
      const uint count = U4();
      const int at = Skip((long)count * TICK_BYTES);
      if(at < 0)
         return;
      ArrayResize(ticks, (int)count);
      for(int i = 0; i < (int)count; i++)
         CharArrayToStruct(ticks[i], m_data, at + i * TICK_BYTES);
     }

   // How many of a list's `count` entries of at least `entry_bytes_min` bytes can be there.
   int               ListRoom(const uint count, const int entry_bytes_min) const
     {
      const uint room = (uint)(Left() / entry_bytes_min);
      return((int)(count < room ? count : room));
     }

   // How many entries of a list are to be read, one more than can be there where `count` is too
   // large: reading that one fails, for the reason that comes first in it.
   int               ListReach(const uint count, const int entry_bytes_min) const
     {
      const uint reach = (uint)(Left() / entry_bytes_min) + 1;
      return((int)(count < reach ? count : reach));
     }

   // Fails as truncated if a list of `count` entries had room for fewer.
   void              ListEnd(const uint count, const int room)
     {
      if(count != (uint)room)
         Fail(WIRE_TRUNCATED);
     }

private:
   uint              U4At(const int at) const
     {
      return((uint)m_data[at] | ((uint)m_data[at + 1] << 8)
             | ((uint)m_data[at + 2] << 16) | ((uint)m_data[at + 3] << 24));
     }
  };

#endif
