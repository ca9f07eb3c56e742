// The session's script as the Python side hands it over: checked, one statement a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mql::host {

// A script that cannot be used; the text says where and why.
struct ScriptError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Range = std::pair<std::int64_t, std::int64_t>;
using Settings = std::vector<std::pair<std::string, std::string>>;

// One line: a name and its settings. A setting that is not given has the default of the caller.
class Statement {
public:
  explicit Statement(std::string name = "") : name(std::move(name)) {}

  // Of one line: fields are separated by tabs; a tab, line feed or backslash inside is \t, \n or \\.
  static Statement read(std::string_view line);

  bool has(std::string_view key) const;
  std::string text(std::string_view key, std::string_view otherwise = "") const;
  double number(std::string_view key, double otherwise = 0) const;
  std::int64_t integer(std::string_view key, std::int64_t otherwise = 0) const;
  bool flag(std::string_view key, bool otherwise = false) const;
  Range range(std::string_view key, Range otherwise = {0, 0}) const;  // "3" or "1..6"
  Settings inputs() const;  // settings `input.NAME=VALUE`, for the program that is named

  std::string name;
  Settings settings;  // in the order of the line
};

// All statements in their order.
class Script {
public:
  static Script read(const std::filesystem::path& path);

  void add(Statement statement) { m_statements.push_back(std::move(statement)); }

  std::vector<const Statement*> all(std::string_view name) const;

  // The settings of all statements of this name; a later one wins.
  Statement merged(std::string_view name) const;

private:
  std::vector<Statement> m_statements;
};

}  // namespace mql::host
