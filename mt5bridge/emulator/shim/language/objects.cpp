// Which objects made by `new` are alive.
#include <unordered_map>

#include "pointer.hpp"

namespace mql::objects {

namespace {

std::unordered_map<const void*, ulong>& numbers() {
  static std::unordered_map<const void*, ulong> by_address;
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
  return numbers()[object] = static_cast<ulong>(generations[slot]) << 32 | slot;
}

ulong number(const void* object) {
  const auto found = numbers().find(object);
  return found == numbers().end() ? 0 : found->second;
}

void gone(const void* object, ulong number) {
  const uint slot = static_cast<uint>(number);
  generations[slot]++;
  free_slots().push_back(slot);
  numbers().erase(object);
}

}  // namespace mql::objects
