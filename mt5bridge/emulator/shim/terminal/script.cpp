// Reads the session's script.
#include "script.hpp"

#include <charconv>
#include <fstream>

namespace mql::host {
namespace {

constexpr std::string_view INPUT = "input.";

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\t') {
      fields.emplace_back();
    } else if (line[at] == '\\' && at + 1 < line.size()) {
      const char next = line[++at];
      fields.back() += next == 't' ? '\t' : next == 'n' ? '\n' : next;
    } else {
      fields.back() += line[at];
    }
  }
  return fields;
}

template <class Number>
Number parse(const std::string& name, std::string_view key, std::string_view text) {
  Number value{};
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end)
    throw ScriptError(name + " " + std::string(key) + ": not a number: " + std::string(text));
  return value;
}

}  // namespace

Statement Statement::read(std::string_view line) {
  const auto fields = fields_of(line);
  Statement statement(fields.front());
  for (std::size_t at = 1; at < fields.size(); ++at) {
    const auto equals = fields[at].find('=');
    if (equals == std::string::npos)
      throw ScriptError("script: no '=' in " + fields[at]);
    statement.settings.emplace_back(fields[at].substr(0, equals), fields[at].substr(equals + 1));
  }
  return statement;
}

Settings Statement::inputs() const {
  Settings inputs;
  for (const auto& [key, value] : settings)
    if (key.starts_with(INPUT))
      inputs.emplace_back(key.substr(INPUT.size()), value);
  return inputs;
}

bool Statement::has(std::string_view key) const {
  for (const auto& [found, value] : settings)
    if (found == key)
      return true;
  return false;
}

std::string Statement::text(std::string_view key, std::string_view otherwise) const {
  for (auto at = settings.rbegin(); at != settings.rend(); ++at)
    if (at->first == key)
      return at->second;
  return std::string(otherwise);
}

double Statement::number(std::string_view key, double otherwise) const {
  return has(key) ? parse<double>(name, key, text(key)) : otherwise;
}

std::int64_t Statement::integer(std::string_view key, std::int64_t otherwise) const {
  return has(key) ? parse<std::int64_t>(name, key, text(key)) : otherwise;
}

bool Statement::flag(std::string_view key, bool otherwise) const {
  return integer(key, otherwise) != 0;
}

Range Statement::range(std::string_view key, Range otherwise) const {
  if (!has(key))
    return otherwise;
  const auto value = text(key);
  const auto dots = value.find("..");
  if (dots == std::string::npos)
    return {integer(key), integer(key)};
  const std::string_view view = value;
  return {parse<std::int64_t>(name, key, view.substr(0, dots)),
        parse<std::int64_t>(name, key, view.substr(dots + 2))};
}

Script Script::read(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file)
    throw ScriptError("cannot read the script " + path.string());
  Script script;
  for (std::string line; std::getline(file, line);)
    if (!line.empty())
      script.m_statements.push_back(Statement::read(line));
  return script;
}

std::vector<const Statement*> Script::all(std::string_view name) const {
  std::vector<const Statement*> found;
  for (const auto& statement : m_statements)
    if (statement.name == name)
      found.push_back(&statement);
  return found;
}

Statement Script::merged(std::string_view name) const {
  Statement merged{std::string(name)};
  for (const auto* statement : all(name))
    merged.settings.insert(merged.settings.end(), statement->settings.begin(),
                    statement->settings.end());
  return merged;
}

}  // namespace mql::host
