// Whose values the global variables of a program hold.
#include "places.hpp"

#include <cstring>

#include "files_open.hpp"
#include "program.hpp"

namespace mql {

namespace {

constexpr std::size_t alignment = 16;

std::size_t room_of(std::size_t size) { return (size + alignment - 1) / alignment * alignment; }

}  // namespace

template <class Each>
void Places::for_each(Each each) const {
  std::size_t at = 0;
  for (const auto* list : {&inputs_, &globals_})
    for (const Place& one : *list) {
      each(one, at);
      at += room_of(one.size);
    }
}

std::size_t Places::size() const {
  std::size_t total = 0;
  for_each([&](const Place& one, std::size_t at) { total = at + room_of(one.size); });
  return total;
}

void Places::put_aside() {
  if (resident_ == nullptr) return;
  auto& aside = resident_->values_.aside;
  aside = std::make_unique<std::byte[]>(size());
  for_each([&](const Place& one, std::size_t at) {
    std::memcpy(aside.get() + at, one.place, one.size);
  });
  resident_ = nullptr;
}

void Places::enter(const Program& program) {
  if (resident_ == &program) return;
  put_aside();
  resident_ = &program;
  if (const auto aside = std::move(program.values_.aside))
    for_each([&](const Place& one, std::size_t at) {
      std::memcpy(one.place, aside.get() + at, one.size);
    });
}

// Back to the values of the program that runs.
Residence::~Residence() {
  if (any_current()) set_current(&current());
}

Program::Program(const ProgramInfo& info, Places& places)
    : files(std::make_unique<OpenFiles>()), info_(info), places_(places) {
  const Residence here(*this);
  for (const auto& one : places_.inputs_) one.make(one.place);
  values_.has_inputs = true;
}

void Program::begin() {
  for (auto& made = values_.made; made < places_.globals_.size(); ++made) {
    const auto& one = places_.globals_[made];
    one.make(one.place);
  }
}

// The program that runs comes back to the places; this one, though it may run, never does.
Program::~Program() {
  enter();
  for (auto& made = values_.made; made > 0; --made) {
    const auto& one = places_.globals_[made - 1];
    one.end(one.place);
  }
  if (values_.has_inputs)
    for (const auto& one : places_.inputs_) one.end(one.place);
  places_.resident_ = nullptr;
  if (any_current() && &current() != this) set_current(&current());
}

}  // namespace mql
