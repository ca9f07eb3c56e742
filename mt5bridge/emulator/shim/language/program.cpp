// The running program, its inputs, and the list of programs built in.
#include "program.hpp"

#include <cerrno>
#include <cstdio>
#include <map>
#include <stdexcept>

#include "colors.hpp"
#include "errors.hpp"
#include "files_open.hpp"
#include "strings.hpp"

namespace mql {

namespace {

Program* running = nullptr;

struct Entry {
  ProgramInfo info;
  Factory factory;
};

std::map<std::string, Entry>& entries() {
  static std::map<std::string, Entry> by_path;
  return by_path;
}

[[noreturn]] void refuse(const std::string& text, const std::string& wanted) {
  throw std::invalid_argument("'" + text + "' is no " + wanted);
}

}  // namespace

void Program::set_input(const std::string& name, const std::string& text) {
  std::string known;
  for (size_t i = 0; i < inputs.size(); i++) {
    if (inputs[i].name == name) return set_input_at(i, text);
    known += (i ? ", " : "") + inputs[i].name;
  }
  throw std::invalid_argument(info_.name + " has no input " + name + "; it has " + known);
}

void Program::set_input_at(size_t index, const std::string& text) {
  if (index >= inputs.size())
    throw std::invalid_argument(info_.name + " has " + std::to_string(inputs.size()) + " inputs");
  const Residence here(*this);
  try {
    inputs[index].set(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(info_.name + "." + inputs[index].name + ": " + error.what());
  }
}

Program& current() {
  if (!running) throw std::logic_error("no MQL5 program is running");
  return *running;
}
bool any_current() { return running != nullptr; }
void set_current(Program* program) {
  running = program;
  if (program) program->enter();
}

int& last_error() {
  static int outside = 0;
  return running ? running->last_error : outside;
}

bool register_program(const ProgramInfo& info, Factory factory) {
  entries()[info.path] = Entry{info, factory};
  return true;
}

std::unique_ptr<Program> create_program(const std::string& name) {
  for (const auto& [path, entry] : entries())
    if (path == name || entry.info.name == name) return entry.factory();
  return nullptr;
}

std::vector<ProgramInfo> all_programs() {
  std::vector<ProgramInfo> infos;
  for (const auto& [path, entry] : entries()) infos.push_back(entry.info);
  return infos;
}

void stop_program(const std::string& reason, const char* file, int line) {
  const std::string place = *file ? " in '" + std::string(file) + "' (" + std::to_string(line) + ")"
                                  : std::string();
  throw ProgramStopped(reason + place);
}

void out_of_range(long index, long size, const char* file, int line) {
  const std::string which =
      "index " + std::to_string(index) + " of " + std::to_string(size) + " elements";
  stop_program("array out of range: " + which, file, line);
}

string enum_text(EnumNames names, long value) {
  for (size_t i = 0; i < names.size; i++)
    if (names.begin[i].value == value) return string(names.begin[i].name);
  return string(std::to_string(value));
}

long enum_value(EnumNames names, const std::string& text) {
  std::string known;
  for (size_t i = 0; i < names.size; i++) {
    if (text == names.begin[i].name || text == std::to_string(names.begin[i].value)) return names.begin[i].value;
    known += (i ? ", " : "") + std::string(names.begin[i].name);
  }
  if (names.size) refuse(text, "value of the enumeration; it has " + known);
  long value = 0;
  parse_input(text, value, -2147483648L, 2147483647L);
  return value;
}

void parse_input(const std::string& text, bool& value) {
  if (text == "true" || text == "1")
    value = true;
  else if (text == "false" || text == "0")
    value = false;
  else
    refuse(text, "truth value; write true or false");
}

void parse_input(const std::string& text, long& value, long lowest, long highest) {
  char* end = nullptr;
  errno = 0;
  const long parsed = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || parsed < lowest || parsed > highest)
    refuse(text, "whole number from " + std::to_string(lowest) + " to " + std::to_string(highest));
  value = parsed;
}

void parse_input(const std::string& text, ulong& value) {
  char* end = nullptr;
  errno = 0;
  const ulong parsed = std::strtoul(text.c_str(), &end, 10);
  if (text.empty() || text[0] == '-' || *end || errno) refuse(text, "whole number from 0 on");
  value = parsed;
}

void parse_input(const std::string& text, double& value) {
  char* end = nullptr;
  const double parsed = std::strtod(text.c_str(), &end);
  if (text.empty() || *end) refuse(text, "number");
  value = parsed;
}

void parse_input(const std::string& text, string& value) { value = string(text); }

void parse_input(const std::string& text, datetime& value) {
  ResetLastError();
  const datetime parsed = StringToTime(string(text));
  if (GetLastError()) refuse(text, "time; write 2026.01.31 23:59:59");
  value = parsed;
}

void parse_input(const std::string& text, color& value) {
  if (color_by_name(text, value)) return;
  int red = 0, green = 0, blue = 0, used = 0;
  if (std::sscanf(text.c_str(), "%d,%d,%d%n", &red, &green, &blue, &used) == 3) {
    if (text[static_cast<size_t>(used)] || (red | green | blue) & ~255)
      refuse(text, "color; write clrRed or 255,0,0");
    value = red | green << 8 | blue << 16;
    return;
  }
  long parsed = 0;
  try {
    parse_input(text, parsed, -1, 0xFFFFFF);
  } catch (const std::invalid_argument&) {
    refuse(text, "color; write clrRed or 255,0,0");
  }
  value = parsed;
}

}  // namespace mql
