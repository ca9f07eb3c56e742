// Faults of files, by the script's `files`.
#include "files_faults.hpp"

#include <fnmatch.h>

#include <array>
#include <sstream>

#include "terminal/host.hpp"

namespace mql::files {

namespace {

constexpr std::array<const char*, 4> deed_names = {"open", "move", "delete", "write"};

struct Faults {
  std::array<double, deed_names.size()> shares{};
  std::string name = "*";
};

Faults faults;

}  // namespace

void set_fault(const std::string& key, const std::string& value) {
  if (key == "name") faults.name = value;
  for (size_t at = 0; at < deed_names.size(); ++at)
    if (key == deed_names[at]) faults.shares[at] = std::stod(value);
}

void set_faults(const std::string& words) {
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    const auto equals = word.find('=');
    set_fault(word.substr(0, equals), word.substr(equals + 1));
  }
}

bool strikes(Deed deed, const std::filesystem::path& path) {
  const auto at = static_cast<size_t>(deed);
  const auto name = path.filename().string();
  if (faults.shares[at] <= 0 || fnmatch(faults.name.c_str(), name.c_str(), FNM_CASEFOLD) != 0 ||
      !host::chance(host::random("files"), faults.shares[at]))
    return false;
  host::journal("", std::string("script: no ") + deed_names[at] + " of " + name);
  return true;
}

}  // namespace mql::files
