// CryptEncode, of which there is SHA-256.
#ifndef MT5BRIDGE_LANGUAGE_CRYPT_HPP
#define MT5BRIDGE_LANGUAGE_CRYPT_HPP

#include "array.hpp"

namespace mql {

enum ENUM_CRYPT_METHOD {
  CRYPT_BASE64,
  CRYPT_AES128,
  CRYPT_AES256,
  CRYPT_DES,
  CRYPT_HASH_SHA1,
  CRYPT_HASH_SHA256,
  CRYPT_HASH_MD5,
  CRYPT_ARCH_ZIP
};

int CryptEncode(ENUM_CRYPT_METHOD method, array_ref<const uchar> data, array_ref<const uchar> key,
                array_ref<uchar> result);

}  // namespace mql

#endif
