// Global variables of the terminal: in memory, on disk when flushed and when the terminal ends.
#include "globals.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "errors.hpp"
#include "terminal/host.hpp"

namespace mql {

namespace {

constexpr int name_units_max = 63;

struct Variable {
  double value = 0;
  long time = 0;
  bool temporary = false;
};

class Variables {
 public:
  Variables() : path_(host::data_folder() / "global_variables.txt") {
    std::ifstream file(path_);
    std::string name, number;
    long time = 0;
    while (std::getline(file, name, '\t') && file >> number >> time && file.ignore())
      all[name] = Variable{std::strtod(number.c_str(), nullptr), time, false};
    std::atexit([] { of_terminal().save(); });
  }

  static Variables& of_terminal() {
    static Variables* const variables = new Variables();  // outlives every static destructor
    return *variables;
  }

  void save() {
    const std::filesystem::path fresh = path_.string() + ".new";
    std::ofstream file(fresh, std::ios::trunc);
    file << std::hexfloat;
    for (const auto& [name, variable] : all)
      if (!variable.temporary) file << name << '\t' << variable.value << ' ' << variable.time << '\n';
    file.close();
    std::filesystem::rename(fresh, path_);
    host::effect("global_variables_saved");
  }

  std::map<std::string, Variable> all;

 private:
  std::filesystem::path path_;
};

std::map<std::string, Variable>& all() { return Variables::of_terminal().all; }

long now() { return host::utc_msc() / 1000; }

Variable* find(const string& name) {
  const auto found = all().find(name.utf8());
  if (found != all().end()) return &found->second;
  fail(ERR_GLOBALVARIABLE_NOT_FOUND);
  return nullptr;
}

}  // namespace

bool GlobalVariableCheck(const string& name) { return all().contains(name.utf8()); }

double GlobalVariableGet(const string& name) {
  double value = 0;
  GlobalVariableGet(name, value);
  return value;
}

bool GlobalVariableGet(const string& name, double& value) {
  Variable* variable = find(name);
  if (!variable) return false;
  value = variable->value;
  variable->time = now();
  return true;
}

datetime GlobalVariableSet(const string& name, double value) {
  if (name.size() == 0 || name.size() > name_units_max) return fail(ERR_INVALID_PARAMETER);
  Variable& variable = all()[name.utf8()];
  variable.value = value;
  return variable.time = now();
}

bool GlobalVariableSetOnCondition(const string& name, double value, double expected) {
  Variable* variable = find(name);
  if (!variable || variable->value != expected) return false;
  GlobalVariableSet(name, value);
  return true;
}

bool GlobalVariableTemp(const string& name) {
  if (GlobalVariableCheck(name)) return false;
  GlobalVariableSet(name, 0);
  return all()[name.utf8()].temporary = true;
}

bool GlobalVariableDel(const string& name) {
  return all().erase(name.utf8()) || fail(ERR_GLOBALVARIABLE_NOT_FOUND);
}

int GlobalVariablesTotal() { return static_cast<int>(all().size()); }

string GlobalVariableName(int index) {
  if (index < 0 || index >= GlobalVariablesTotal()) {
    fail(ERR_GLOBALVARIABLE_NOT_FOUND);
    return string("");
  }
  return string(std::next(all().begin(), index)->first);
}

datetime GlobalVariableTime(const string& name) {
  const Variable* variable = find(name);
  return variable ? variable->time : 0;
}

int GlobalVariablesDeleteAll(const string& prefix, datetime limit) {
  return static_cast<int>(std::erase_if(all(), [&](const auto& entry) {
    return entry.first.starts_with(prefix.utf8()) && (limit == 0 || entry.second.time < limit);
  }));
}

void GlobalVariablesFlush() { Variables::of_terminal().save(); }

}  // namespace mql
