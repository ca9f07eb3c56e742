//| CRC-32 of zlib (IEEE 802.3, reflected, polynomial 0xEDB88320), eight bytes a step.
#ifndef MT5BRIDGE_WIRE_CRC32_MQH
#define MT5BRIDGE_WIRE_CRC32_MQH

// Start with 0; the sum of two pieces is the second piece's update of the first one's sum.
class Crc32
  {
private:
   // m_table[256 * k + b]: what byte b does when k zero bytes follow it.
   uint              m_table[2048];

public:
                     Crc32(void)
     {
      for(uint value = 0; value < 256; value++)
        {
         uint sum = value;
         for(int bit = 0; bit < 8; bit++)
            sum = (sum & 1) != 0 ? (sum >> 1) ^ 0xEDB88320 : sum >> 1;
         m_table[value] = sum;
        }
      for(int at = 256; at < 2048; at++)
         m_table[at] = (m_table[at - 256] >> 8) ^ m_table[m_table[at - 256] & 0xFF];
     }

   // The sum `sum` grows to with `count` bytes from `from` on.
   uint              Update(const uint sum, const uchar &data[], const int from, const int count) const
     {
      uint rest = ~sum;
      const int end = from + count;
      int at = from;
      for(; at + 8 <= end; at += 8)
        {
         rest ^= (uint)data[at] | ((uint)data[at + 1] << 8)
                 | ((uint)data[at + 2] << 16) | ((uint)data[at + 3] << 24);
         rest = m_table[1792 + (rest & 0xFF)] ^ m_table[1536 + ((rest >> 8) & 0xFF)]
                ^ m_table[1280 + ((rest >> 16) & 0xFF)] ^ m_table[1024 + (rest >> 24)]
                ^ m_table[768 + data[at + 4]] ^ m_table[512 + data[at + 5]]
                ^ m_table[256 + data[at + 6]] ^ m_table[data[at + 7]];
        }
      for(; at < end; at++)
         rest = (rest >> 8) ^ m_table[(rest ^ data[at]) & 0xFF];
      return(~rest);
     }
  };

#endif
