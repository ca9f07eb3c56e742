// MQL5's functions on files by name, and on folders.
#include "files_paths.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "files.hpp"
#include "files_open.hpp"
#include "program.hpp"
#include "terminal/host.hpp"

namespace mql {

namespace fs = std::filesystem;

namespace files {

bool locate(const string& name, int common, fs::path& path) {
  std::string text = name.utf8();
  std::ranges::replace(text, '\\', '/');
  const fs::path relative = fs::path(text).lexically_normal();
  const bool inside = !text.empty() && !relative.is_absolute() && *relative.begin() != ".." &&
                      text.find(':') == std::string::npos;
  if (!inside) return fail(ERR_WRONG_FILENAME);
  path = (common & FILE_COMMON ? host::common_folder() : host::files_folder()) / relative;
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
  if (file_is_open(path)) return fail(ERR_CANNOT_DELETE_FILE);
  std::error_code error;
  fs::remove(path, error);
  return files::done(error, ERR_CANNOT_DELETE_FILE, "file_deleted");
}

bool FileMove(const string& source, int source_common, const string& target, int flags) {
  fs::path from, to;
  if (!files::locate_pair(source, source_common, target, flags, from, to)) return false;
  if (file_is_open(from)) return fail(ERR_CANNOT_OPEN_FILE);
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
  if (!files::locate(filter, common, pattern)) return INVALID_HANDLE;
  OpenFiles::Listing listing;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(pattern.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (fnmatch(pattern.filename().c_str(), name.c_str(), 0) == 0)
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
