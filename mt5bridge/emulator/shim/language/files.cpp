// MQL5's functions on open files.
#include "files.hpp"

#include <algorithm>

#include "files_open.hpp"
#include "files_paths.hpp"
#include "program.hpp"
#include "strings.hpp"

namespace mql {

namespace {

OpenFile* opened(int handle) { return current().files->find(handle); }

// A text's bytes in this file: two for each unit unless it is an ANSI file.
std::string text_bytes(const OpenFile& file, const string& text) {
  if (file.has(FILE_ANSI)) {
    array<uchar> bytes;
    const int size = StringToCharArray(text, bytes, 0, -1, file.codepage());
    return std::string(bytes.data(), bytes.data() + std::max(size - 1, 0));
  }
  const std::u16string_view units = text.view();
  return std::string(reinterpret_cast<const char*>(units.data()), units.size() * 2);
}

string bytes_text(const OpenFile& file, const std::string& bytes) {
  if (!file.has(FILE_ANSI))
    return std::u16string(reinterpret_cast<const char16_t*>(bytes.data()), bytes.size() / 2);
  array<uchar> raw;
  raw.resize(static_cast<long>(bytes.size()));
  std::copy(bytes.begin(), bytes.end(), raw.data());
  return CharArrayToString(raw, 0, raw.size(), file.codepage());
}

// Reads one unit; false at the end of the file.
bool next_unit(OpenFile& file, std::string& unit) {
  unit.resize(file.has(FILE_ANSI) ? 1 : 2);
  return file.read(unit.data(), unit.size()) == unit.size();
}

// A line, or in a CSV file what stands before the delimiter.
string read_until_break(OpenFile& file) {
  std::string bytes, unit;
  file.line_ended = false;
  while (next_unit(file, unit)) {
    const ushort code = static_cast<ushort>(static_cast<uchar>(unit[0]) |
                                            (unit.size() == 2 ? static_cast<uchar>(unit[1]) << 8 : 0));
    if (code == '\n') {
      file.line_ended = true;
      break;
    }
    if (file.has(FILE_CSV) && code != 0 && code == file.delimiter()) break;
    if (code != '\r' && code != 0xFEFF) bytes += unit;
  }
  return bytes_text(file, bytes);
}

template <class T>
T read_value(int handle) {
  T value{};
  return read_bytes(handle, &value, sizeof value) == sizeof value ? value : T{};
}

}  // namespace

int FileOpen(const string& name, int flags, short delimiter, uint codepage) {
  std::filesystem::path path;
  if (!files::locate(name, flags & FILE_COMMON, path)) return INVALID_HANDLE;
  if (!(flags & (FILE_READ | FILE_WRITE))) {
    fail(ERR_INVALID_PARAMETER);
    return INVALID_HANDLE;
  }
  if (!(flags & (FILE_BIN | FILE_TXT | FILE_CSV))) flags |= FILE_CSV;
  if (flags & FILE_WRITE) files::make_parents(path);
  const bool fresh = (flags & FILE_WRITE) && !(flags & (FILE_ANSI | FILE_BIN));
  const int handle = current().files->open(path, flags, static_cast<ushort>(delimiter), codepage);
  if (handle != INVALID_HANDLE && fresh && FileSize(handle) == 0) {
    const ushort mark = 0xFEFF;
    write_bytes(handle, &mark, sizeof mark);
  }
  return handle;
}

void FileClose(int handle) { current().files->close(handle); }

void FileFlush(int handle) {
  if (OpenFile* file = opened(handle)) file->flush();
}

bool FileSeek(int handle, long offset, ENUM_FILE_POSITION origin) {
  OpenFile* file = opened(handle);
  if (!file) return false;
  const long base = origin == SEEK_CUR ? file->position : origin == SEEK_END ? file->size() : 0;
  if (base + offset < 0) return fail(ERR_INVALID_PARAMETER);
  file->position = base + offset;
  return true;
}

ulong FileTell(int handle) {
  OpenFile* file = opened(handle);
  return file ? static_cast<ulong>(file->position) : 0;
}

ulong FileSize(int handle) {
  OpenFile* file = opened(handle);
  return file ? static_cast<ulong>(file->size()) : 0;
}

bool FileIsEnding(int handle) {
  OpenFile* file = opened(handle);
  return file && file->position >= file->size();
}

bool FileIsLineEnding(int handle) {
  OpenFile* file = opened(handle);
  return file && file->line_ended;
}

uint write_bytes(int handle, const void* bytes, size_t size) {
  OpenFile* file = opened(handle);
  if (!file) return 0;
  if (!file->has(FILE_WRITE)) return fail(ERR_FILE_NOTTOWRITE);
  return static_cast<uint>(file->write(bytes, size));
}

uint read_bytes(int handle, void* bytes, size_t size) {
  OpenFile* file = opened(handle);
  if (!file) return 0;
  if (!file->has(FILE_READ)) return fail(ERR_FILE_NOTTOREAD);
  const size_t got = file->read(bytes, size);
  if (got < size) fail(ERR_FILE_READERROR);
  return static_cast<uint>(got);
}

string between_values(int handle) {
  const OpenFile* file = opened(handle);
  const ushort code = file ? file->delimiter() : ushort(0);
  if (code == 0 || (code == '\t' && !file->has(FILE_CSV))) return "";
  return std::u16string(1, static_cast<char16_t>(code));
}

uint write_text(int handle, const string& text) {
  OpenFile* file = opened(handle);
  if (!file) return 0;
  const std::string bytes = text_bytes(*file, text);
  return write_bytes(handle, bytes.data(), bytes.size());
}

uint FileWriteString(int handle, const string& text, int length) {
  return write_text(handle, length < 0 ? text : StringSubstr(text, 0, length));
}

string FileReadString(int handle, int length) {
  OpenFile* file = opened(handle);
  if (!file) return string("");
  if (!file->has(FILE_READ)) {
    fail(ERR_FILE_NOTTOREAD);
    return string("");
  }
  if (!file->has(FILE_BIN)) return read_until_break(*file);
  const size_t units = static_cast<size_t>(std::max(length, 0));
  std::string bytes(units * (file->has(FILE_ANSI) ? 1 : 2), '\0');
  bytes.resize(file->read(bytes.data(), bytes.size()));
  return bytes_text(*file, bytes);
}

uint FileWriteInteger(int handle, int value, int size) {
  if (size != 1 && size != 2 && size != 4) return fail(ERR_INVALID_PARAMETER);
  return write_bytes(handle, &value, static_cast<size_t>(size));
}

int FileReadInteger(int handle, int size) {
  if (size == 1) return read_value<uchar>(handle);
  if (size == 2) return read_value<short>(handle);
  return read_value<int>(handle);
}

uint FileWriteLong(int handle, long value) { return write_bytes(handle, &value, sizeof value); }
long FileReadLong(int handle) { return read_value<long>(handle); }
uint FileWriteDouble(int handle, double value) { return write_bytes(handle, &value, sizeof value); }
double FileReadDouble(int handle) { return read_value<double>(handle); }

}  // namespace mql
