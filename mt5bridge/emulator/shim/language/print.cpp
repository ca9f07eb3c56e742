// StringFormat, and where printed lines go.
#include "print.hpp"

#include <bit>
#include <cstdio>
#include <cstring>

#include "program.hpp"
#include "terminal/host.hpp"

namespace mql {

namespace {

// One conversion: "%-08.3I64d" and so on.
struct Conversion {
  std::string flags, size;
  int width = -1, precision = -1;
  char type = 0;
};

class Formatter {
 public:
  Formatter(const string& format, const format_value* values, size_t count)
      : format_(format.utf8()), values_(values), count_(count) {}

  std::string text() {
    while (at_ < format_.size()) {
      if (format_[at_] != '%')
        out_.push_back(format_[at_++]);
      else if (format_.compare(at_, 2, "%%") == 0)
        out_.push_back(format_[(at_ += 2) - 1]);
      else
        convert(parse());
    }
    return out_;
  }

 private:
  bool next_is(const char* set) const {
    return at_ < format_.size() && std::strchr(set, format_[at_]) != nullptr;
  }

  int parse_number() {
    if (next_is("*")) {
      at_++;
      return static_cast<int>(take().integer);
    }
    int number = 0;
    while (next_is("0123456789")) number = number * 10 + (format_[at_++] - '0');
    return number;
  }

  Conversion parse() {
    Conversion spec;
    at_++;
    while (next_is("-+ #0")) spec.flags.push_back(format_[at_++]);
    if (next_is("*123456789")) spec.width = parse_number();
    if (next_is(".")) {
      at_++;
      spec.precision = parse_number();
    }
    while (next_is("hlLI6432")) spec.size.push_back(format_[at_++]);
    if (at_ < format_.size()) spec.type = format_[at_++];
    return spec;
  }

  const format_value& take() {
    static const format_value missing(0);
    if (used_ < count_) return values_[used_++];
    fail(ERR_TOO_MANY_FORMATTERS);
    return missing;
  }

  void convert(const Conversion& spec) {
    if (spec.type && std::strchr("sS", spec.type))
      put_words(spec, take());
    else if (spec.type && std::strchr("cC", spec.type))
      out_ += string(std::u16string(1, static_cast<char16_t>(take().integer))).utf8();
    else if (spec.type && std::strchr("diuoxX", spec.type))
      put_integer(spec, take());
    else if (spec.type && std::strchr("aAeEfFgG", spec.type))
      put_real(spec, take());
    else if (spec.type)
      out_.push_back(spec.type);
  }

  void put_words(const Conversion& spec, const format_value& value) {
    std::u16string words =
        value.kind == format_value::text ? std::u16string(value.words.view())
                                         : u"(non-string passed)";
    if (spec.precision >= 0) words = words.substr(0, static_cast<size_t>(spec.precision));
    const size_t width = static_cast<size_t>(std::max(spec.width, 0));
    const bool left = spec.flags.find('-') != std::string::npos;
    if (words.size() < width)
      words.insert(left ? words.size() : 0, width - words.size(), u' ');
    out_ += utf8_of(words);
  }

  std::string directive(const Conversion& spec, const char* size) const {
    std::string text = "%" + spec.flags;
    if (spec.width >= 0) text += std::to_string(spec.width);
    if (spec.precision >= 0) text += "." + std::to_string(spec.precision);
    return text + size + spec.type;
  }

  template <class Value>
  void put(const std::string& directive, Value value) {
    char buffer[600];
    std::snprintf(buffer, sizeof buffer, directive.c_str(), value);
    out_ += buffer;
  }

  // Without I64 (or l, ll) only the lower 32 bits are read, as the documentation has it.
  void put_integer(const Conversion& spec, const format_value& value) {
    const long bits =
        value.kind == format_value::real ? std::bit_cast<long>(value.number) : value.integer;
    if (spec.size == "I64" || spec.size == "l" || spec.size == "ll")
      put(directive(spec, "l"), bits);
    else
      put(directive(spec, spec.size == "h" ? "h" : ""), static_cast<int>(bits));
  }

  void put_real(const Conversion& spec, const format_value& value) {
    put(directive(spec, ""),
        value.kind == format_value::real ? value.number : std::bit_cast<double>(value.integer));
  }

  std::string format_, out_;
  const format_value* values_;
  size_t count_, used_ = 0, at_ = 0;
};

std::string running_name() { return any_current() ? current().info().name : std::string(); }

}  // namespace

string format_text(const string& format, const format_value* values, size_t count) {
  return string(Formatter(format, values, count).text());
}

void print_line(const string& line) { host::journal(running_name(), line.utf8()); }
void show_comment(const string& text) { current().comment = text.utf8(); }
void show_alert(const string& text) { host::journal(running_name(), "Alert: " + text.utf8()); }

}  // namespace mql
