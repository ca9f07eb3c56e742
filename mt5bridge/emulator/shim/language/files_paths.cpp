// MQL5's functions on files by name, and on folders.
#include "files_paths.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <cwctype>

#include "files.hpp"
#include "files_faults.hpp"
#include "files_open.hpp"
#include "program.hpp"
#include "terminal/host.hpp"

namespace mql {

namespace fs = std::filesystem;

namespace files {

namespace {

// Windows takes 260 characters at most, and the terminal's folder has about 100 of them.
constexpr int name_length_max = 150;

std::string lower(std::string_view utf8) {
  std::u16string text = utf16_of(utf8);
  for (char16_t& unit : text) unit = static_cast<char16_t>(std::towlower(unit));
  return utf8_of(text);
}

// Names of devices, whatever stands behind a dot: COM1.DE is a port and no file.
bool reserved(const std::string& name) {
  std::string stem = lower(name.substr(0, name.find('.')));
  while (stem.ends_with(' ')) stem.pop_back();
  const bool port = stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) &&
                    std::isdigit(static_cast<unsigned char>(stem[3]));
  return port || stem == "con" || stem == "prn" || stem == "aux" || stem == "nul";
}

// What Windows makes of the name of a file or folder: dots and blanks at its end are dropped. Empty:
// there can be no such name.
std::string windows_name(std::string name) {
  if (name == ".") return name;
  while (name.ends_with('.') || name.ends_with(' ')) name.pop_back();
  const bool odd = std::ranges::any_of(name, [](unsigned char c) {
    return c < 32 || std::string_view("<>:\"|").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return odd || reserved(name) ? "" : name;
}

// Names that differ in case only are one; what is there keeps the name it was given first.
fs::path existing(const fs::path& folder, const std::string& name) {
  if (fs::exists(folder / name)) return folder / name;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string other = entry.path().filename().string();
    if (lower(other) == lower(name)) return folder / other;
  }
  return folder / name;
}

}  // namespace

bool locate(const string& name, int common, fs::path& path, bool pattern) {
  std::string text = name.utf8();
  std::ranges::replace(text, '\\', '/');
  const fs::path relative = fs::path(text).lexically_normal();
  const bool wild = text.find_first_of("*?") != std::string::npos;
  if (text.empty() || relative.is_absolute() || *relative.begin() == ".." || (wild && !pattern))
    return fail(ERR_WRONG_FILENAME);
  if (name.size() > name_length_max) return fail(ERR_TOO_LONG_FILENAME);
  path = common & FILE_COMMON ? host::common_folder() : host::files_folder();
  for (const fs::path& part : relative) {
    if (part.empty()) continue;  // a separator at the end
    const std::string kept = windows_name(part.string());
    if (kept.empty()) return fail(ERR_WRONG_FILENAME);
    path = existing(path, kept);
  }
  return true;
}

void make_parents(const fs::path& path) {
  std::error_code ignored;  // opening the file will say what is wrong
  fs::create_directories(path.parent_path(), ignored);
}

namespace {

// Both ends of a move or copy; false with the error set if it may not be.
bool locate_pair(const string& source, int source_common, const string& target, int flags,
                 fs::path& from, fs::path& to) {
  if (!locate(source, source_common, from) || !locate(target, flags, to)) return false;
  if (!fs::is_regular_file(from)) return fail(ERR_FILE_NOT_EXIST);
  if (fs::exists(to) && !(flags & FILE_REWRITE)) return fail(ERR_FILE_CANNOT_REWRITE);
  if (file_is_open(to)) return fail(ERR_CANNOT_OPEN_FILE);
  make_parents(to);
  return true;
}

bool done(const std::error_code& error, int code, const char* effect) {
  if (error) return fail(code);
  host::effect(effect);
  return true;
}

}  // namespace

}  // namespace files

bool FileIsExist(const string& name, int common) {
  fs::path path;
  if (!files::locate(name, common, path)) return false;
  if (fs::is_directory(path)) return fail(ERR_FILE_IS_DIRECTORY);
  return fs::exists(path) || fail(ERR_FILE_NOT_EXIST);
}

bool FileDelete(const string& name, int common) {
  fs::path path;
  if (!files::locate(name, common, path)) return false;
  if (!fs::is_regular_file(path)) return fail(ERR_FILE_NOT_EXIST);
  if (file_is_open(path) || files::strikes(files::Deed::remove, path))
    return fail(ERR_CANNOT_DELETE_FILE);
  std::error_code error;
  fs::remove(path, error);
  return files::done(error, ERR_CANNOT_DELETE_FILE, "file_deleted");
}

bool FileMove(const string& source, int source_common, const string& target, int flags) {
  fs::path from, to;
  if (!files::locate_pair(source, source_common, target, flags, from, to)) return false;
  if (file_is_open(from) || files::strikes(files::Deed::move, to))
    return fail(ERR_CANNOT_OPEN_FILE);
  std::error_code error;
  fs::rename(from, to, error);
  return files::done(error, ERR_CANNOT_OPEN_FILE, "file_moved");
}

bool FileCopy(const string& source, int source_common, const string& target, int flags) {
  fs::path from, to;
  if (!files::locate_pair(source, source_common, target, flags, from, to)) return false;
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  return files::done(error, ERR_CANNOT_OPEN_FILE, "file_copied");
}

bool FolderCreate(const string& name, int common) {
  fs::path path;
  if (!files::locate(name, common, path)) return false;
  std::error_code error;
  fs::create_directories(path, error);
  return files::done(error, ERR_CANNOT_CREATE_DIRECTORY, "folder_created");
}

bool FolderDelete(const string& name, int common) {
  fs::path path;
  if (!files::locate(name, common, path)) return false;
  if (!fs::is_directory(path)) return fail(ERR_DIRECTORY_NOT_EXIST);
  std::error_code error;
  fs::remove(path, error);
  return files::done(error, ERR_WRONG_DIRECTORYNAME, "folder_deleted");
}

bool FolderClean(const string& name, int common) {
  fs::path path;
  if (!files::locate(name, common, path)) return false;
  if (!fs::is_directory(path)) return fail(ERR_DIRECTORY_NOT_EXIST);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path)) fs::remove_all(entry.path(), error);
  return files::done(error, ERR_WRONG_DIRECTORYNAME, "folder_cleaned");
}

long FileFindFirst(const string& filter, string& found, int common) {
  fs::path pattern;
  if (!files::locate(filter, common, pattern, true)) return INVALID_HANDLE;
  OpenFiles::Listing listing;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(pattern.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (fnmatch(pattern.filename().c_str(), name.c_str(), FNM_CASEFOLD) == 0)
      listing.names.push_back(name + (entry.is_directory() ? "\\" : ""));
  }
  std::ranges::sort(listing.names);
  if (listing.names.empty()) {
    fail(ERR_FILE_NOT_EXIST);
    return INVALID_HANDLE;
  }
  auto& listings = current().files->listings;
  const long handle = listings.empty() ? 1 : listings.rbegin()->first + 1;
  listings[handle] = std::move(listing);
  FileFindNext(handle, found);
  return handle;
}

bool FileFindNext(long handle, string& found) {
  auto& listings = current().files->listings;
  const auto listing = listings.find(handle);
  if (listing == listings.end()) return fail(ERR_INVALID_FILEHANDLE);
  if (listing->second.next == listing->second.names.size()) return false;
  found = string(listing->second.names[listing->second.next++]);
  return true;
}

void FileFindClose(long handle) { current().files->listings.erase(handle); }

}  // namespace mql
