//| Received bytes of a ZMTP peer: a buffer that is read from its beginning.
#ifndef MT5BRIDGE_LINK_ZMTP_BYTES_MQH
#define MT5BRIDGE_LINK_ZMTP_BYTES_MQH

// Bytes are addressed from the first one that is not consumed.
class ZmtpBytes
  {
private:
   uchar             m_data[];
   int               m_from;
   int               m_end;

public:
                     ZmtpBytes(void) { Clear(); }

   void              Clear(void)
     {
      m_from = 0;
      m_end = 0;
     }

   int               Size(void) const { return(m_end - m_from); }
   uchar             At(const int index) const { return(m_data[m_from + index]); }

   // Appends `count` bytes; consumed ones make room first.
   void              Add(const uchar &data[], const int count)
     {
      if(m_end + count > ArraySize(m_data) && m_from > 0)
        {
         const int size = Size();
         for(int i = 0; i < size; i++)
            m_data[i] = m_data[m_from + i];
         m_from = 0;
         m_end = size;
        }
      if(m_end + count > ArraySize(m_data))
         ArrayResize(m_data, 2 * (m_end + count));
      ArrayCopy(m_data, data, m_end, 0, count);
      m_end += count;
     }

   void              Consume(const int count)
     {
      m_from += count;
      if(m_from == m_end)
         Clear();
     }

   // Copies `count` bytes at `index` to the beginning of `target`, which grows if it must.
   void              Copy(const int index, const int count, uchar &target[]) const
     {
      if(ArraySize(target) < count)
         ArrayResize(target, count);
      if(count > 0)
         ArrayCopy(target, m_data, 0, m_from + index, count);
     }

   // `count` bytes at `index` as text; what is not visible ASCII becomes a question mark.
   string            Text(const int index, const int count) const
     {
      uchar bytes[];
      Copy(index, count, bytes);
      for(int i = 0; i < count; i++)
         if(bytes[i] < 0x20 || bytes[i] > 0x7E)
            bytes[i] = '?';
      return(count == 0 ? "" : CharArrayToString(bytes, 0, count, CP_UTF8));
     }

   // A big-endian number of `count` bytes at `index`, at most 8 of them.
   ulong             Number(const int index, const int count) const
     {
      ulong number = 0;
      for(int i = 0; i < count; i++)
         number = (number << 8) | At(index + i);
      return(number);
     }
  };

#endif
