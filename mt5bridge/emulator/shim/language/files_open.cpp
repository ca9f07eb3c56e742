// Open files: buffers, positions, and who may open what at the same time.
#include "files_open.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "errors.hpp"
#include "files.hpp"
#include "files_faults.hpp"
#include "terminal/host.hpp"

namespace mql {

namespace {

constexpr size_t waiting_bytes_max = 65536;
constexpr size_t open_files_max = 64;

std::vector<const OpenFile*>& all_open() {
  static std::vector<const OpenFile*> files;
  return files;
}

// Whether a file open with `other` flags lets in somebody with `wanted` flags.
bool admits(int other, int wanted) {
  const bool reads = !(wanted & FILE_READ) || (other & FILE_SHARE_READ);
  const bool writes = !(wanted & FILE_WRITE) || (other & FILE_SHARE_WRITE);
  return reads && writes;
}

int flags_of(const OpenFile& file) {
  int flags = 0;
  for (int flag : {FILE_READ, FILE_WRITE, FILE_SHARE_READ, FILE_SHARE_WRITE})
    if (file.has(flag)) flags |= flag;
  return flags;
}

bool admitted(const std::filesystem::path& path, int flags) {
  return std::ranges::all_of(all_open(), [&](const OpenFile* file) {
    return file->path() != path || (admits(flags_of(*file), flags) && admits(flags, flags_of(*file)));
  });
}

int system_flags(int flags) {
  if (!(flags & FILE_WRITE)) return O_RDONLY;
  return O_RDWR | O_CREAT | (flags & FILE_READ ? 0 : O_TRUNC);
}

}  // namespace

OpenFile::OpenFile(std::filesystem::path path, int flags, ushort delimiter, uint codepage)
    : path_(std::move(path)),
      flags_(flags),
      descriptor_(::open(path_.c_str(), system_flags(flags) | O_CLOEXEC, 0644)),
      delimiter_(delimiter),
      codepage_(codepage) {
  if (opened()) all_open().push_back(this);
}

OpenFile::~OpenFile() {
  if (!opened()) return;
  flush();
  ::close(descriptor_);
  std::erase(all_open(), this);
}

size_t OpenFile::write(const void* bytes, size_t size) {
  const long waiting_end = waiting_at_ + static_cast<long>(waiting_.size());
  if (!waiting_.empty() && position != waiting_end && !flush()) return 0;
  if (waiting_.empty()) waiting_at_ = position;
  waiting_.append(static_cast<const char*>(bytes), size);
  position += static_cast<long>(size);
  if (waiting_.size() > waiting_bytes_max && !flush()) return 0;
  return size;
}

size_t OpenFile::read(void* bytes, size_t size) {
  if (!flush()) return 0;
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(descriptor_, static_cast<char*>(bytes) + done, size - done,
                                position + static_cast<long>(done));
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  position += static_cast<long>(done);
  return done;
}

size_t OpenFile::put(size_t from, size_t to) {
  while (from < to) {
    const ssize_t put = ::pwrite(descriptor_, waiting_.data() + from, to - from,
                                 waiting_at_ + static_cast<long>(from));
    if (put <= 0) return from;
    from += static_cast<size_t>(put);
  }
  return to;
}

bool OpenFile::flush() {
  if (waiting_.empty()) return true;
  const size_t half = waiting_.size() / 2;
  const bool torn_written = put(0, half) == half;
  if (half) host::effect("file_half_written");
  const bool written = !files::strikes(files::Deed::write, path_) && torn_written && put(half, waiting_.size()) == waiting_.size();
  waiting_.clear();
  host::effect("file_written");
  return written || fail(ERR_FILE_WRITEERROR);
}

long OpenFile::size() const {
  struct stat facts {};
  ::fstat(descriptor_, &facts);
  return std::max<long>(facts.st_size,
                        waiting_.empty() ? 0 : waiting_at_ + static_cast<long>(waiting_.size()));
}

int OpenFiles::open(const std::filesystem::path& path, int flags, ushort delimiter,
                    uint codepage) {
  if (!admitted(path, flags) || files::strikes(files::Deed::open, path)) {
    fail(ERR_CANNOT_OPEN_FILE);
    return INVALID_HANDLE;
  }
  auto file = std::make_unique<OpenFile>(path, flags, delimiter, codepage);
  if (!file->opened()) {
    fail(ERR_CANNOT_OPEN_FILE);
    return INVALID_HANDLE;
  }
  auto slot = std::find(files_.begin(), files_.end(), nullptr);
  if (slot == files_.end() && files_.size() >= open_files_max) {
    fail(ERR_TOO_MANY_FILES);
    return INVALID_HANDLE;
  }
  if (slot == files_.end()) slot = files_.insert(slot, nullptr);
  *slot = std::move(file);
  return static_cast<int>(slot - files_.begin()) + 1;
}

OpenFile* OpenFiles::find(int handle) {
  const bool known = handle >= 1 && handle <= static_cast<int>(files_.size());
  OpenFile* file = known ? files_[static_cast<size_t>(handle - 1)].get() : nullptr;
  if (!file) fail(ERR_INVALID_FILEHANDLE);
  return file;
}

bool OpenFiles::close(int handle) {
  if (!find(handle)) return false;
  files_[static_cast<size_t>(handle - 1)].reset();
  return true;
}

size_t OpenFiles::count() const {
  return static_cast<size_t>(std::ranges::count_if(files_, [](const auto& file) { return file != nullptr; }));
}

bool file_is_open(const std::filesystem::path& path) {
  return std::ranges::any_of(all_open(),
                             [&](const OpenFile* file) { return file->path() == path; });
}

}  // namespace mql
