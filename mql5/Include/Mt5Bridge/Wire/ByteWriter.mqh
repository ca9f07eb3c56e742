//| Little-endian numbers, texts and records behind one another in a buffer that is reused.
#ifndef MT5BRIDGE_WIRE_BYTE_WRITER_MQH
#define MT5BRIDGE_WIRE_BYTE_WRITER_MQH

#include "Codes.mqh"
#include "Crc32.mqh"
#include "DoubleBits.mqh"
#include "Utf8.mqh"

// Grows when it must and never shrinks, so that a writer in use allocates nothing.
class ByteWriter
  {
private:
   uchar             m_data[];
   uchar             m_text[];
   int               m_size;
   int               m_capacity;

   // Makes room for `count` more bytes.
   void              Need(const int count)
     {
      if(m_size + count <= m_capacity)
         return;
      int wanted = m_size + count;
      if(wanted < 2 * m_capacity)
         wanted = 2 * m_capacity;
      m_capacity = ArrayResize(m_data, wanted);
     }

public:
                     ByteWriter(void)
     {
      m_size = 0;
      m_capacity = ArrayResize(m_data, 256);
     }

   void              Clear(void) { m_size = 0; }
   int               Size(void) const { return(m_size); }

   void              U1(const uchar value)
     {
      Need(1);
      m_data[m_size++] = value;
     }

   void              U2(const ushort value)
     {
      Need(2);
      m_data[m_size] = (uchar)(value & 0xFF);
      m_data[m_size + 1] = (uchar)(value >> 8);
      m_size += 2;
     }

   void              U4(const uint value)
     {
      Need(4);
      PatchU4(m_size, value);
      m_size += 4;
     }

   void              U8(const ulong value)
     {
      U4((uint)(value & 0xFFFFFFFF));
      U4((uint)(value >> 32));
     }

   void              I4(const int value) { U4((uint)value); }
   void              I8(const long value) { U8((ulong)value); }

   void              F8(const double value)
     {
      DoubleBits both;
      both.number = value;
      U8(both.bits);
     }

   // Writes a number over the four bytes at `at`, which are there.
   void              PatchU4(const int at, const uint value)
     {
      m_data[at] = (uchar)(value & 0xFF);
      m_data[at + 1] = (uchar)((value >> 8) & 0xFF);
      m_data[at + 2] = (uchar)((value >> 16) & 0xFF);
      m_data[at + 3] = (uchar)(value >> 24);
     }

   // A length and UTF-8; a text that is too long is cut between two characters.
   void              Text(const string text)
     {
      const int whole = Utf8Bytes(text, m_text);
      const int size = Utf8Cut(m_text, whole, TEXT_BYTES_MAX);
      U2((ushort)size);
      Raw(m_text, size);
     }

   // The first `count` bytes of `bytes`.
   void              Raw(const uchar &bytes[], const int count)
     {
      Need(count);
      if(count > 0)
         ArrayCopy(m_data, bytes, m_size, 0, count);
      m_size += count;
     }

   // `count` ticks from `from` on, each the 60 bytes of a packed MqlTick.
   void              Ticks(const MqlTick &ticks[], const int from, const int count)
     {
      Need(count * TICK_BYTES);
      for(int i = 0; i < count; i++)
        {
         StructToCharArray(ticks[from + i], m_data, m_size);
         m_size += TICK_BYTES;
        }
     }

   // Copies everything written to `target`, which has the room, from `at` on.
   void              CopyTo(uchar &target[], const int at) const
     {
      if(m_size > 0)
         ArrayCopy(target, m_data, at, 0, m_size);
     }

   // Writes everything that `other` holds.
   void              Append(const ByteWriter &other)
     {
      Need(other.Size());
      other.CopyTo(m_data, m_size);
      m_size += other.Size();
     }

   // The checksum of `count` bytes from `from` on, going on from `sum`.
   uint              Checksum(const Crc32 &crc, const uint sum, const int from, const int count) const
     {
      return(crc.Update(sum, m_data, from, count));
     }
  };

#endif
