// The broker's log file: reading what earlier runs did, cutting a torn tail, appending.
#include "log.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace mql::broker {

namespace {

constexpr std::size_t kHeaderBytes = 8;
constexpr u32 kBodyBytesMax = 1 << 24;  // a damaged length is not believed

std::array<u32, 256> crc_table() {
  std::array<u32, 256> table{};
  for (u32 byte = 0; byte < 256; ++byte) {
    u32 value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = (value & 1) != 0 ? (value >> 1) ^ 0xEDB88320u : value >> 1;
    table[byte] = value;
  }
  return table;
}

u32 crc32(const std::string& bytes) {
  static const std::array<u32, 256> table = crc_table();
  u32 value = 0xFFFFFFFFu;
  for (const char byte : bytes)
    value = table[(value ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (value >> 8);
  return value ^ 0xFFFFFFFFu;
}

std::runtime_error failure(const std::string& what, const std::string& path) {
  return std::runtime_error("broker log " + path + ": cannot " + what + ": " +
                            std::strerror(errno));
}

// Reads one entry; false at the end of what is whole.
bool read_entry(std::istream& file, std::string& body) {
  u32 header[2];
  if (!file.read(reinterpret_cast<char *>(header), kHeaderBytes))
    return false;
  if (header[0] > kBodyBytesMax)
    return false;
  body.resize(header[0]);
  return file.read(body.data(), header[0]) && crc32(body) == header[1];
}

// Gives `read` every whole batch; returns the bytes they fill.
i64 read_entries(const std::string& path, const Log::Reader& read) {
  std::ifstream file(path, std::ios::binary);
  i64 whole_bytes = 0;
  for (std::string body; read_entry(file, body);) {
    i64 server_msc = 0;
    Batch batch;
    if (!decode(body, server_msc, batch))
      break;
    read(server_msc, batch);
    whole_bytes += static_cast<i64>(kHeaderBytes + body.size());
  }
  return whole_bytes;
}

}  // namespace

Log::Log(const std::string& path, const Reader& read) {
  const i64 whole_bytes = read_entries(path, read);
  m_file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (m_file < 0)
    throw failure("open", path);
  if (::ftruncate(m_file, whole_bytes) != 0 || ::lseek(m_file, 0, SEEK_END) < 0)
    throw failure("cut its torn tail", path);
}

Log::~Log() { ::close(m_file); }

void Log::append(i64 server_msc, const Batch& batch) {
  const std::string body = encode(server_msc, batch);
  const u32 header[2] = {static_cast<u32>(body.size()), crc32(body)};
  std::string entry(reinterpret_cast<const char *>(header), kHeaderBytes);
  entry += body;
  for (std::size_t done = 0; done < entry.size();) {
    const ssize_t written = ::write(m_file, entry.data() + done, entry.size() - done);
    if (written < 0 && errno != EINTR)
      throw failure("append", "file");
    done += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
}

}  // namespace mql::broker
