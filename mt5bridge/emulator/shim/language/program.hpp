// A translated program: its handlers, inputs and own state; and the list of all that are built in.
#ifndef MT5BRIDGE_LANGUAGE_PROGRAM_HPP
#define MT5BRIDGE_LANGUAGE_PROGRAM_HPP

#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "array.hpp"
#include "string.hpp"
#include "types.hpp"
#include "places.hpp"

namespace mql {

struct MqlTradeTransaction;
struct MqlTradeRequest;
struct MqlTradeResult;
class OpenFiles;

enum class ProgramKind { expert, indicator, script };

// Bits of the handlers a program has.
enum Handler : unsigned {
  ON_INIT = 1,
  ON_DEINIT = 2,
  ON_TICK = 4,
  ON_TIMER = 8,
  ON_CHART_EVENT = 16,
  ON_BOOK_EVENT = 32,
  ON_TRADE = 64,
  ON_TRADE_TRANSACTION = 128,
  ON_START = 256,
  ON_CALCULATE = 512,
};

inline constexpr int INIT_SUCCEEDED = 0;
inline constexpr int INIT_FAILED = 1;
inline constexpr int INIT_PARAMETERS_INCORRECT = 32767;

struct ProgramInfo {
  std::string name;     // "Publisher"
  std::string path;     // "Mt5Bridge\Publisher"
  ProgramKind kind;
  unsigned handlers;    // bits of Handler
  std::string version;  // #property version
};

// One `input`: `set` throws std::invalid_argument if the text is not of its type.
struct InputField {
  std::string name;
  std::string type;
  std::string default_text;
  std::string comment;
  std::function<void(const std::string&)> set;
};

class Program {
 public:
  Program(const ProgramInfo& info, Places& places);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program();

  const ProgramInfo& info() const { return info_; }
  bool has(Handler handler) const { return info_.handlers & handler; }

  // Gives the global variables their first values, once: the inputs have theirs by then.
  void begin();
  // Its global variables are at their places from now on.
  void enter() const { places_.enter(*this); }

  // Inputs in the order of the source; setting throws std::invalid_argument with a remedy.
  std::vector<InputField> inputs;
  void set_input(const std::string& name, const std::string& text);
  void set_input_at(size_t index, const std::string& text);

  // Static variables of functions; see `kept`.
  std::map<const void*, std::shared_ptr<void>> statics;

  // The handlers; what a program lacks does nothing.
  virtual int handle_init() { return INIT_SUCCEEDED; }
  virtual void handle_deinit(int) {}
  virtual void handle_tick() {}
  virtual void handle_timer() {}
  virtual void handle_chart_event(int, long, double, const string&) {}
  virtual void handle_book_event(const string&) {}
  virtual void handle_trade() {}
  virtual void handle_trade_transaction(const MqlTradeTransaction&, const MqlTradeRequest&,
                                        const MqlTradeResult&) {}
  virtual void handle_start() {}
  virtual int handle_calculate(int rates_total, int, int, array_ref<const double>) {
    return rates_total;
  }

  int last_error = 0;
  std::string comment;  // what Comment() shows on the chart
  uint random_state = 1;
  std::unique_ptr<OpenFiles> files;
  std::shared_ptr<void> attachment;  // what the terminal knows about it: chart, timers, events

 private:
  friend class Places;
  const ProgramInfo& info_;
  Places& places_;
  mutable Places::Values values_;
};

// While it lives a program's global variables are at their places, though it does not run.
class Residence {
 public:
  explicit Residence(const Program& program) { program.enter(); }
  ~Residence();
  Residence(const Residence&) = delete;
  Residence& operator=(const Residence&) = delete;
};

// The program whose handler runs. Throws std::logic_error outside of any.
Program& current();
bool any_current();

// A static variable of a function: of the running program alone. Each declaration has a `Make` of its
// own, which gives its first value.
template <class T, class Make>
T& kept(Make make) {
  static char key;
  std::shared_ptr<void>& place = current().statics[&key];
  if (!place) place = std::shared_ptr<T>(new T(make()));
  return *static_cast<T*>(place.get());
}
void set_current(Program* program);

// Programs built into this executable, by "Publisher" or "Mt5Bridge\Publisher"; nullptr if absent.
using Factory = std::unique_ptr<Program> (*)();
std::unique_ptr<Program> create_program(const std::string& name);
std::vector<ProgramInfo> all_programs();
bool register_program(const ProgramInfo& info, Factory factory);

// The names of an enumeration's values, for inputs and EnumToString. Empty: not known.
struct EnumName {
  const char* name;
  long value;
};
struct EnumNames {
  const EnumName* begin = nullptr;
  size_t size = 0;
};
// Overloaded by every enumeration whose names are known.
template <class E>
  requires std::is_enum_v<E>
EnumNames names_of(E) {
  return {};
}
#define MQL_ENUM_VALUE(name) ::mql::EnumName{#name, static_cast<long>(name)},
#define MQL_ENUM_NAMES(type, ...)                     \
  inline EnumNames names_of(type) {                   \
    static constexpr EnumName list[] = {__VA_ARGS__}; \
    return {list, std::size(list)};                   \
  }
string enum_text(EnumNames names, long value);
long enum_value(EnumNames names, const std::string& text);

template <class E>
  requires std::is_enum_v<E>
string EnumToString(E value) {
  return enum_text(names_of(value), static_cast<long>(value));
}

// The value of an input's text; std::invalid_argument says what is wrong with it.
void parse_input(const std::string& text, bool& value);
void parse_input(const std::string& text, long& value, long lowest, long highest);
void parse_input(const std::string& text, ulong& value);
void parse_input(const std::string& text, double& value);
void parse_input(const std::string& text, string& value);
void parse_input(const std::string& text, datetime& value);
void parse_input(const std::string& text, color& value);

template <class T>
void set_field(const std::string& text, T& field) {
  if constexpr (std::is_enum_v<T>) {
    field = static_cast<T>(enum_value(names_of(field), text));
  } else if constexpr (std::is_same_v<T, float>) {
    double value = 0;
    parse_input(text, value);
    field = static_cast<float>(value);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                       !std::is_same_v<T, ulong>) {
    long value = 0;
    parse_input(text, value, static_cast<long>(std::numeric_limits<T>::min()),
                static_cast<long>(std::numeric_limits<T>::max()));
    field = static_cast<T>(value);
  } else {
    parse_input(text, field);
  }
}

template <class T>
std::string input_text(const T& value) {
  if constexpr (std::is_same_v<T, string>)
    return value.utf8();
  else if constexpr (std::is_enum_v<T>)
    return names_of(value).size ? EnumToString(value).utf8() : string(value).utf8();
  else
    return string(value).utf8();
}

// Lists `field` among the inputs; it holds its default already.
template <class T>
void add_input(Program& program, const char* name, const char* type, const char* comment,
               T& field) {
  program.inputs.push_back({name, type, input_text(field), comment,
                            [&field](const std::string& text) { set_field(text, field); }});
}

}  // namespace mql

#endif
