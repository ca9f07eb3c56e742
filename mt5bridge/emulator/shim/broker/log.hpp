// The server's memory: an append-only file of batches. A batch is all there or not at all.
#pragma once

#include "records.hpp"

#include <functional>
#include <string>

namespace mql::broker {

// File: entries of u4 body length, u4 CRC-32 (IEEE) of the body, body. Body: i8 server time in
// milliseconds, u2 number of changes, each u1 kind and its fields. Numbers little-endian, texts
// a u2 length and UTF-8. A torn or damaged tail, left by a kill, is cut when the file is opened.
class Log {
public:
  using Reader = std::function<void(i64 server_msc, const Batch& batch)>;

  Log(const std::string& path, const Reader& read);  // throws std::runtime_error
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void append(i64 server_msc, const Batch& batch);  // in the file when it returns

private:
  int m_file = -1;
};

std::string encode(i64 server_msc, const Batch& batch);
bool decode(const std::string& body, i64& server_msc, Batch& batch);

}  // namespace mql::broker
