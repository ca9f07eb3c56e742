// Charts and the objects on them, as what programs have set; nobody sees them.
#include <map>

#include "attached.hpp"
#include "runtime.hpp"

namespace mql {
namespace {

constexpr std::size_t NAME_CHARACTERS_MAX = 63;

// A value by its property and modifier, such as the number of a level.
template <class Value>
using Kept = std::map<std::pair<int, int>, Value>;

struct Drawn {
  ENUM_OBJECT type{};
  int window = 0;
  Kept<long> integers;
  Kept<double> doubles;
  Kept<string> strings;
};

// What stays on a chart when its program goes.
struct Chart {
  Kept<long> integers;
  Kept<double> doubles;
  std::map<std::u16string, Drawn> objects;  // ObjectName counts them in the order of names
};

std::map<long, Chart>& charts() {
  static std::map<long, Chart> all;
  return all;
}

// nullptr, and the error is set, if there is no such chart.
Chart* chart_of(long id) {
  const long own = id == 0 ? ChartID() : id;
  if (own != ChartID() && terminal::terminal().find_chart(own) == nullptr) {
    fail(ERR_CHART_WRONG_ID);
    return nullptr;
  }
  return &charts()[own];
}

Drawn* object_of(long id, const string& name) {
  auto* chart = chart_of(id);
  if (chart == nullptr)
    return nullptr;
  const auto found = chart->objects.find(std::u16string(name.view()));
  if (found != chart->objects.end())
    return &found->second;
  fail(ERR_OBJECT_NOT_FOUND);
  return nullptr;
}

void place(Drawn& object, int point, datetime time, double price) {
  object.integers[{OBJPROP_TIME, point}] = time;
  object.doubles[{OBJPROP_PRICE, point}] = price;
}

bool fits(const Drawn& object, int window, int type) {
  return (window < 0 || object.window == window) && (type < 0 || object.type == type);
}

template <class Value>
Value value_of(const Kept<Value>& kept, int property, int modifier, Value absent) {
  const auto found = kept.find({property, modifier});
  return found == kept.end() ? absent : found->second;
}

template <class Wanted>
int delete_objects(long id, Wanted wanted) {
  auto* chart = chart_of(id);
  if (chart == nullptr)
    return -1;
  return static_cast<int>(std::erase_if(chart->objects, wanted));
}

}  // namespace

// --- objects
// One that is there already is moved, as in the terminal.
bool ObjectCreate(long id, const string& name, ENUM_OBJECT type, int window, datetime time,
                  double price, datetime time2, double price2, datetime time3, double price3) {
  auto* chart = chart_of(id);
  if (chart == nullptr)
    return false;
  if (name.size() == 0 || static_cast<std::size_t>(name.size()) > NAME_CHARACTERS_MAX)
    return fail(ERR_INVALID_PARAMETER);
  auto& object = chart->objects[std::u16string(name.view())];
  object.type = type;
  object.window = window;
  object.integers[{OBJPROP_TYPE, 0}] = type;
  object.strings[{OBJPROP_NAME, 0}] = name;
  place(object, 0, time, price);
  place(object, 1, time2, price2);
  place(object, 2, time3, price3);
  return true;
}

string ObjectName(long id, int position, int window, int type) {
  auto* chart = chart_of(id);
  if (chart != nullptr)
    for (const auto& [name, object] : chart->objects)
      if (fits(object, window, type) && position-- == 0)
        return string(name);
  return string("");
}

bool ObjectDelete(long id, const string& name) {
  return object_of(id, name) != nullptr &&
         chart_of(id)->objects.erase(std::u16string(name.view())) == 1;
}

int ObjectsDeleteAll(long id, int window, int type) {
  return delete_objects(id, [=](const auto& entry) { return fits(entry.second, window, type); });
}

int ObjectsDeleteAll(long id, const string& prefix, int window, int type) {
  return delete_objects(id, [&](const auto& entry) {
    return entry.first.starts_with(prefix.view()) && fits(entry.second, window, type);
  });
}

int ObjectFind(long id, const string& name) {
  const auto* object = object_of(id, name);
  return object == nullptr ? -1 : object->window;
}

bool ObjectMove(long id, const string& name, int point, datetime time, double price) {
  auto* object = object_of(id, name);
  if (object != nullptr)
    place(*object, point, time, price);
  return object != nullptr;
}

int ObjectsTotal(long id, int window, int type) {
  const auto* chart = chart_of(id);
  int count = 0;
  if (chart != nullptr)
    for (const auto& [name, object] : chart->objects)
      count += fits(object, window, type);
  return count;
}

#define MQL_PROPERTY(kind, type, given, kept)                                                    \
  bool ObjectSet##kind(long id, const string& name, ENUM_OBJECT_PROPERTY_##given property,       \
                       int modifier, type value) {                                               \
    auto* object = object_of(id, name);                                                          \
    if (object != nullptr)                                                                       \
      object->kept[{property, modifier}] = value;                                                \
    return object != nullptr;                                                                    \
  }                                                                                              \
  bool ObjectSet##kind(long id, const string& name, ENUM_OBJECT_PROPERTY_##given property,       \
                       type value) {                                                             \
    return ObjectSet##kind(id, name, property, 0, value);                                        \
  }
MQL_PROPERTY(Integer, long, INTEGER, integers)
MQL_PROPERTY(Double, double, DOUBLE, doubles)
MQL_PROPERTY(String, const string&, STRING, strings)
#undef MQL_PROPERTY

long ObjectGetInteger(long id, const string& name, ENUM_OBJECT_PROPERTY_INTEGER property,
                      int modifier) {
  const auto* object = object_of(id, name);
  return object == nullptr ? 0 : value_of(object->integers, property, modifier, 0L);
}

double ObjectGetDouble(long id, const string& name, ENUM_OBJECT_PROPERTY_DOUBLE property,
                       int modifier) {
  const auto* object = object_of(id, name);
  return object == nullptr ? 0 : value_of(object->doubles, property, modifier, 0.0);
}

string ObjectGetString(long id, const string& name, ENUM_OBJECT_PROPERTY_STRING property,
                       int modifier) {
  const auto* object = object_of(id, name);
  return object == nullptr ? string("")
                           : value_of(object->strings, property, modifier, string(""));
}

// --- charts
void ChartRedraw(long) {}

ENUM_TIMEFRAMES ChartPeriod(long id) {
  if (id == 0 || id == ChartID())
    return Period();
  const auto* chart = terminal::terminal().find_chart(id);
  if (chart == nullptr)
    fail(ERR_CHART_WRONG_ID);
  return chart == nullptr ? PERIOD_CURRENT : chart->what.period;
}

bool ChartSetInteger(long id, ENUM_CHART_PROPERTY_INTEGER property, uint window, long value) {
  auto* chart = chart_of(id);
  if (chart != nullptr)
    chart->integers[{property, static_cast<int>(window)}] = value;
  return chart != nullptr;
}

bool ChartSetInteger(long id, ENUM_CHART_PROPERTY_INTEGER property, long value) {
  return ChartSetInteger(id, property, 0, value);
}

bool ChartSetDouble(long id, ENUM_CHART_PROPERTY_DOUBLE property, double value) {
  auto* chart = chart_of(id);
  if (chart != nullptr)
    chart->doubles[{property, 0}] = value;
  return chart != nullptr;
}

// The chart's comment is the only text it has.
bool ChartSetString(long id, ENUM_CHART_PROPERTY_STRING, const string& value) {
  auto* chart = terminal::terminal().find_chart(id == 0 ? ChartID() : id);
  if (chart == nullptr)
    return fail(ERR_CHART_WRONG_ID);
  chart->program->comment = value.utf8();
  return true;
}

long ChartGetInteger(long id, ENUM_CHART_PROPERTY_INTEGER property, int window) {
  const auto* chart = chart_of(id);
  return chart == nullptr ? 0 : value_of(chart->integers, property, window, 0L);
}

double ChartGetDouble(long id, ENUM_CHART_PROPERTY_DOUBLE property, int window) {
  const auto* chart = chart_of(id);
  return chart == nullptr ? 0 : value_of(chart->doubles, property, window, 0.0);
}

string ChartGetString(long id, ENUM_CHART_PROPERTY_STRING) {
  const auto* chart = terminal::terminal().find_chart(id == 0 ? ChartID() : id);
  if (chart == nullptr)
    fail(ERR_CHART_WRONG_ID);
  return string(chart == nullptr ? std::string() : chart->program->comment);
}

// --- what reaches outside
namespace {

bool told(const char* what, const string& text) {
  host::journal(terminal::self().title, what + text.utf8());
  return true;
}

}  // namespace

bool SendNotification(const string& text) {
  return told("notification, sent nowhere: ", text);
}

bool SendMail(const string& subject, const string&) {
  return told("mail, sent nowhere: ", subject);
}

bool PlaySound(const string& file) {
  return told("sound: ", file);
}

}  // namespace mql
