//| HMAC-SHA256 (RFC 2104) of texts, as hexadecimal digits.
#ifndef MT5BRIDGE_SESSION_HMAC
#define MT5BRIDGE_SESSION_HMAC

#include "../Wire/Utf8.mqh"

#define HMAC_BLOCK_BYTES  64
#define HMAC_DIGEST_BYTES 32

// The SHA-256 of bytes; false when the terminal cannot compute it.
bool Sha256(const uchar &data[], uchar &digest[])
  {
   uchar unused[1] = {0};
   return CryptEncode(CRYPT_HASH_SHA256, data, unused, digest) == HMAC_DIGEST_BYTES;
  }

// The SHA-256 of a key, each byte with `pad`, and what follows.
bool HmacRound(const uchar &key[], const uchar pad, const uchar &tail[], uchar &digest[])
  {
   uchar data[];
   const int size = ArraySize(tail);
   if(ArrayResize(data, HMAC_BLOCK_BYTES + size) != HMAC_BLOCK_BYTES + size)
      return false;
   for(int i = 0; i < HMAC_BLOCK_BYTES; i++)
      data[i] = (uchar)((i < ArraySize(key) ? key[i] : 0) ^ pad);
   for(int i = 0; i < size; i++)
      data[HMAC_BLOCK_BYTES + i] = tail[i];
   return Sha256(data, digest);
  }

// The HMAC of a text by a key, both as UTF-8: 64 small hexadecimal digits; "" when there is none.
string HmacText(const string key, const string text)
  {
   uchar word[], data[], inner[], outer[], key_digest[];
   ArrayResize(word, Utf8Bytes(key, word));   // without the zero behind it
   ArrayResize(data, Utf8Bytes(text, data));
   if(ArraySize(word) > HMAC_BLOCK_BYTES)
     {
      if(!Sha256(word, key_digest))
         return "";
      ArrayResize(word, HMAC_DIGEST_BYTES);
      for(int i = 0; i < HMAC_DIGEST_BYTES; i++)
         word[i] = key_digest[i];
     }
   if(!HmacRound(word, 0x36, data, inner) || !HmacRound(word, 0x5C, inner, outer))
      return "";
   string digits = "";
   for(int i = 0; i < HMAC_DIGEST_BYTES; i++)
      digits += StringFormat("%02x", outer[i]);
   return digits;
  }

#endif
