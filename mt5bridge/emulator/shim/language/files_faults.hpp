// What goes wrong with files on purpose: a virus scanner or a backup that holds one for a moment, a
// full disk.
#ifndef MT5BRIDGE_LANGUAGE_FILES_FAULTS_HPP
#define MT5BRIDGE_LANGUAGE_FILES_FAULTS_HPP

#include <filesystem>
#include <string>

namespace mql::files {

enum class Deed { open, move, remove, write };

// One setting of the script's `files`: a share of deeds (open, move, delete, write) that fail, or
// the `name` they are about, with * and ?; of a move the new one.
void set_fault(const std::string& key, const std::string& value);

// The same as words: "move=1 name=*.journal".
void set_faults(const std::string& words);

// Whether this deed is to fail; the journal says so.
bool strikes(Deed deed, const std::filesystem::path& path);

}  // namespace mql::files

#endif
