// Names of files as MQL5 writes them, below the terminal's Files folders.
#ifndef MT5BRIDGE_LANGUAGE_FILES_PATHS_HPP
#define MT5BRIDGE_LANGUAGE_FILES_PATHS_HPP

#include <filesystem>

#include "string.hpp"

namespace mql::files {

// The path of a name or of a pattern for names, as Windows finds it; false (5002) if it leads out of
// the folder or can be no name of a file there.
bool locate(const string& name, int common, std::filesystem::path& path, bool pattern = false);
void make_parents(const std::filesystem::path& path);

}  // namespace mql::files

#endif
