// CryptEncode: SHA-256 of texts that end before, at and behind the ends of its blocks.
void OnStart(void)
  {
   const int sizes[] = {0, 1, 55, 56, 63, 64, 65, 119, 120, 1000};
   for(int i = 0; i < ArraySize(sizes); i++)
     {
      uchar data[], key[1] = {0}, digest[];
      ArrayResize(data, sizes[i]);
      for(int k = 0; k < sizes[i]; k++)
         data[k] = (uchar)(k * 7 + i);
      const int count = CryptEncode(CRYPT_HASH_SHA256, data, key, digest);
      string digits = "";
      for(int k = 0; k < count; k++)
         digits += StringFormat("%02x", digest[k]);
      Print(sizes[i], " ", digits);
     }
  }
