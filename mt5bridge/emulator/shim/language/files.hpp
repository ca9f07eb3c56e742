// MQL5's files: only below the terminal's Files folders.
#ifndef MT5BRIDGE_LANGUAGE_FILES_HPP
#define MT5BRIDGE_LANGUAGE_FILES_HPP

#include <cstdio>

#include "array.hpp"
#include "print.hpp"
#include "string.hpp"

namespace mql {

inline constexpr int CHAR_VALUE = 1, SHORT_VALUE = 2, INT_VALUE = 4;
inline constexpr int FILE_READ = 1, FILE_WRITE = 2, FILE_BIN = 4, FILE_CSV = 8, FILE_TXT = 16,
                     FILE_ANSI = 32, FILE_UNICODE = 64, FILE_SHARE_READ = 128,
                     FILE_SHARE_WRITE = 256, FILE_REWRITE = 512, FILE_COMMON = 4096;

using ENUM_FILE_POSITION = int;  // SEEK_SET, SEEK_CUR, SEEK_END of C have MQL5's numbers

int FileOpen(const string& name, int flags, short delimiter = '\t', uint codepage = CP_ACP);
void FileClose(int handle);
void FileFlush(int handle);
bool FileSeek(int handle, long offset, ENUM_FILE_POSITION origin);
ulong FileTell(int handle);
ulong FileSize(int handle);
bool FileIsEnding(int handle);
bool FileIsLineEnding(int handle);
bool FileIsExist(const string& name, int common = 0);
bool FileDelete(const string& name, int common = 0);
bool FileMove(const string& source, int source_common, const string& target, int flags);
bool FileCopy(const string& source, int source_common, const string& target, int flags);
bool FolderCreate(const string& name, int common = 0);
bool FolderDelete(const string& name, int common = 0);
bool FolderClean(const string& name, int common = 0);
long FileFindFirst(const string& filter, string& found, int common = 0);
bool FileFindNext(long handle, string& found);
void FileFindClose(long handle);

// Raw bytes at the file's position; how many were written or read.
uint write_bytes(int handle, const void* bytes, size_t size);
uint read_bytes(int handle, void* bytes, size_t size);
uint write_text(int handle, const string& text);
// What FileWrite puts between two values: the delimiter of FileOpen. Empty if that is 0, and in a text
// file for which none was named.
string between_values(int handle);

uint FileWriteString(int handle, const string& text, int length = -1);
string FileReadString(int handle, int length = -1);
uint FileWriteInteger(int handle, int value, int size = 4);
int FileReadInteger(int handle, int size = 4);
uint FileWriteLong(int handle, long value);
long FileReadLong(int handle);
uint FileWriteDouble(int handle, double value);
double FileReadDouble(int handle);

template <any_array A>
uint FileWriteArray(int handle, const A& values, int start = 0, int count = WHOLE_ARRAY) {
  static_assert(std::is_trivially_copyable_v<element<A>>);
  if (start < 0 || start > values.size()) return fail(ERR_INVALID_PARAMETER);
  const long left = values.size() - start;
  const size_t taken = static_cast<size_t>(count < 0 || count > left ? left : count);
  const size_t size = sizeof(element<A>);
  return static_cast<uint>(write_bytes(handle, values.data() + start, taken * size) / size);
}

template <target_array A>
uint FileReadArray(int handle, A&& values, int start = 0, int count = WHOLE_ARRAY) {
  static_assert(std::is_trivially_copyable_v<element<A>>);
  const size_t size = sizeof(element<A>);
  if (start < 0) return fail(ERR_INVALID_PARAMETER);
  const long left = static_cast<long>((FileSize(handle) - FileTell(handle)) / size);
  long taken = count < 0 || count > left ? left : count;
  if (values.size() < start + taken && !values.resize(start + taken))
    taken = values.size() - start;
  if (taken <= 0) return 0;
  return static_cast<uint>(
      read_bytes(handle, values.data() + start, static_cast<size_t>(taken) * size) / size);
}

template <class T>
uint FileWriteStruct(int handle, const T& value, int size = -1) {
  static_assert(std::is_trivially_copyable_v<T>);
  return write_bytes(handle, &value, size < 0 ? sizeof(T) : static_cast<size_t>(size));
}
template <class T>
uint FileWriteStruct(int handle, const T&& value, int size = -1) = delete;
template <class T>
  requires(!std::is_const_v<T>)
uint FileReadStruct(int handle, T& value, int size = -1) {
  static_assert(std::is_trivially_copyable_v<T>);
  return read_bytes(handle, &value, size < 0 ? sizeof(T) : static_cast<size_t>(size));
}

template <class... Values>
uint FileWrite(int handle, const Values&... values) {
  const string delimiter = between_values(handle);
  string line;
  int count = 0;
  ((line += (count++ ? delimiter : string("")) + printed(values)), ...);
  return write_text(handle, line + string("\r\n"));
}

}  // namespace mql

#endif
