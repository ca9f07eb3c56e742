// Which objects made by `new` are alive.
#include <unordered_map>

#include "pointer.hpp"
#include "program.hpp"

namespace mql::objects {

namespace {

struct Made {
  ulong number;
  const Program* by;
};

std::unordered_map<const void*, Made>& numbers() {
  static std::unordered_map<const void*, Made> by_address;
  return by_address;
}

std::vector<uint>& free_slots() {
  static std::vector<uint> slots;
  return slots;
}

}  // namespace

ulong made(const void* object) {
  if (free_slots().empty()) {
    free_slots().push_back(static_cast<uint>(generations.size()));
    generations.push_back(1);
  }
  const uint slot = free_slots().back();
  free_slots().pop_back();
  const ulong number = static_cast<ulong>(generations[slot]) << 32 | slot;
  numbers()[object] = {number, any_current() ? &current() : nullptr};
  return number;
}

ulong number(const void* object) {
  const auto found = numbers().find(object);
  return found == numbers().end() ? 0 : found->second.number;
}

void gone(const void* object, ulong number) {
  const uint slot = static_cast<uint>(number);
  generations[slot]++;
  free_slots().push_back(slot);
  numbers().erase(object);
}

int left(const Program* program) {
  int count = 0;
  for (auto& [address, made] : numbers()) {
    if (made.by != program) continue;
    made.by = nullptr;
    count++;
  }
  return count;
}

}  // namespace mql::objects
