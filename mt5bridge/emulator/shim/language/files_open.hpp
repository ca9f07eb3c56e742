// The files a program has open. What is written waits in memory until it is flushed, as in the
// terminal, so that a crash loses it.
#ifndef MT5BRIDGE_LANGUAGE_FILES_OPEN_HPP
#define MT5BRIDGE_LANGUAGE_FILES_OPEN_HPP

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "string.hpp"

namespace mql {

class OpenFile {
 public:
  OpenFile(std::filesystem::path path, int flags, ushort delimiter, uint codepage);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  bool opened() const { return descriptor_ >= 0; }
  bool has(int flag) const { return flags_ & flag; }
  const std::filesystem::path& path() const { return path_; }
  ushort delimiter() const { return delimiter_; }
  uint codepage() const { return codepage_; }

  size_t write(const void* bytes, size_t size);
  size_t read(void* bytes, size_t size);
  // Hands what waits to the operating system in two parts: a crash may come between them.
  bool flush();
  long size() const;

  long position = 0;
  bool line_ended = false;

 private:
  size_t put(size_t from, size_t to);

  std::filesystem::path path_;
  int flags_, descriptor_;
  ushort delimiter_;
  uint codepage_;
  std::string waiting_;
  long waiting_at_ = 0;
};

class OpenFiles {
 public:
  // The handle; -1 if the file cannot be opened so.
  int open(const std::filesystem::path& path, int flags, ushort delimiter, uint codepage);
  OpenFile* find(int handle);
  bool close(int handle);
  size_t count() const;  // of those that are open

  struct Listing {
    std::vector<std::string> names;
    size_t next = 0;
  };
  std::map<long, Listing> listings;

 private:
  std::vector<std::unique_ptr<OpenFile>> files_;  // handle 1 is the first
};

// Whether any program has the file open; then it can be neither deleted nor moved.
bool file_is_open(const std::filesystem::path& path);

}  // namespace mql

#endif
