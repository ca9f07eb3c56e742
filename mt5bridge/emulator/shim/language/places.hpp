// The global variables of a program, inputs and static members of classes among them.
//
// Classes and functions use them by name, so each has one place in memory. A program that runs twice
// has two sets of values: those of the running one are at the places, the others are put aside as
// they are. Nothing is copied while a program runs once.
#ifndef MT5BRIDGE_LANGUAGE_PLACES_HPP
#define MT5BRIDGE_LANGUAGE_PLACES_HPP

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace mql {

class Program;

// The place of a variable, or of several of one declaration.
template <class T>
union slot {
  T value;
  char nothing;
  constexpr slot() : nothing(0) {}
  constexpr ~slot() {}
};

class Places {
 public:
  Places() = default;
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  // In the order of the source.
  template <class T>
  bool add(slot<T>& place, bool is_input) {
    (is_input ? inputs_ : globals_)
        .push_back({&place.value, sizeof(T), [](void* at) { ::new (at) T(); },
                    [](void* at) { static_cast<T*>(at)->~T(); }});
    return true;
  }
  // Brings the program's values to the places.
  void enter(const Program& program);

 private:
  friend class Program;
  struct Place {
    void* place;
    std::size_t size;
    void (*make)(void*);
    void (*end)(void*);
  };
  // What a program has of them. The first value is made of 0, as MQL5's globals are.
  struct Values {
    bool has_inputs = false;
    std::size_t made = 0;  // how many globals
    std::unique_ptr<std::byte[]> aside{};
  };
  void put_aside();
  std::size_t size() const;
  template <class Each>
  void for_each(Each each) const;

  std::vector<Place> inputs_, globals_;
  const Program* resident_ = nullptr;
};

}  // namespace mql

#endif
