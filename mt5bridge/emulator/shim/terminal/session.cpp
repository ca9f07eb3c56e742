// Journal, folders, clocks, chance and injected crashes.
#include "session.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <system_error>

namespace mql::host {
namespace {

constexpr int EXIT_CODE_CRASH = 137;  // what a process killed by SIGKILL leaves
constexpr std::int64_t PASSING_US = 600'000'000;

std::int64_t waited_us = 0, passed_us = 0;

struct Session {
  std::filesystem::path data, files, common;
  Script script;
  std::uint64_t seed = 1, run = 0;
  std::uint64_t effects = 0, crash_at = 0;
  bool recorded = true, real_elapsed = false;
  std::int64_t offset_ms = 0, ahead_ms = 0, newest_msc = 0;
  std::map<std::string, Random, std::less<>> randoms;
};

Session session;

std::uint64_t hash(std::string_view text) {  // FNV-1a: the same on every machine
  std::uint64_t value = 14695981039346656037ULL;
  for (const char letter : text)
    value = (value ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  return value;
}

std::int64_t real_steady_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

std::int64_t computed_us() {
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return 1'000'000LL * cpu.tv_sec + cpu.tv_nsec / 1000;
}

std::int64_t real_utc_msc() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count() + passed_us / 1000;
}

}  // namespace

void open_session(const std::filesystem::path& data_folder, Script script) {
  session.data = std::filesystem::absolute(data_folder);
  session.files = session.data / "MQL5" / "Files";
  session.common = session.data / "Common" / "Files";
  std::filesystem::create_directories(session.files);
  std::filesystem::create_directories(session.common);
  session.script = std::move(script);
  session.seed = static_cast<std::uint64_t>(session.script.merged("seed").integer("value", 1));
  session.crash_at =
      static_cast<std::uint64_t>(session.script.merged("crash").integer("effect", 0));
  const auto clock = session.script.merged("clock");
  session.recorded = clock.text("mode", "recorded") == "recorded";
  session.real_elapsed = clock.text("elapsed", "computed") == "real";
  session.offset_ms = clock.integer("offset_ms", 0);
  session.ahead_ms = clock.integer("ahead_ms", 0);
  DurableCounter run(session.data / "terminal.run");
  session.run = ++run.value();
}

std::uint64_t run_number() {
  return session.run;
}

void effect(const char* name) {
  if (++session.effects != session.crash_at)
    return;
  journal("", std::string("crash at effect ") + std::to_string(session.effects) + ": " + name);
  std::fflush(stdout);
  _exit(EXIT_CODE_CRASH);
}

std::uint64_t effects() {
  return session.effects;
}

void journal(std::string_view program, std::string_view line) {
  const auto ms = real_utc_msc() % 86'400'000;
  std::printf("%02d:%02d:%02d.%03d\t%.*s\t%.*s\n", static_cast<int>(ms / 3'600'000),
              static_cast<int>(ms / 60'000 % 60), static_cast<int>(ms / 1000 % 60),
              static_cast<int>(ms % 1000), static_cast<int>(program.size()), program.data(),
              static_cast<int>(line.size()), line.data());
  std::fflush(stdout);
}

const std::filesystem::path& data_folder() {
  return session.data;
}

const std::filesystem::path& files_folder() {
  return session.files;
}

const std::filesystem::path& common_folder() {
  return session.common;
}

std::int64_t steady_us() {
  if (session.real_elapsed)  // no system call: what a program costs by itself can be measured
    return real_steady_us() + passed_us;
  static const auto begin_us = real_steady_us() - computed_us();
  return begin_us + computed_us() + waited_us + passed_us;
}

void pass_time() {
  passed_us += PASSING_US;
}

Sleep::Sleep(std::int64_t us_max) : m_us_max(us_max), m_begin_us(real_steady_us()) {}

Sleep::~Sleep() {
  waited_us += std::min(m_us_max, real_steady_us() - m_begin_us);
}

std::int64_t utc_msc() {
  return session.recorded ? session.newest_msc - session.offset_ms : real_utc_msc();
}

std::int64_t server_msc() {
  return session.recorded ? session.newest_msc : real_utc_msc() + session.offset_ms;
}

std::int64_t clock_ahead_ms() {
  return session.ahead_ms;
}

std::int64_t server_offset_ms() {
  return session.offset_ms;
}

void advance_clock(std::int64_t server_msc) {
  session.newest_msc = std::max(session.newest_msc, server_msc);
}

void set_server_offset_ms(std::int64_t offset_ms) {
  session.offset_ms = offset_ms;
}

Random& random(std::string_view stream) {
  const auto found = session.randoms.find(stream);
  if (found != session.randoms.end())
    return found->second;
  const std::uint64_t seed = hash(stream) ^ session.seed * 0x9E3779B97F4A7C15ULL ^ session.run << 48;
  return session.randoms.emplace(std::string(stream), Random(seed)).first->second;
}

double uniform(Random& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

bool chance(Random& random, double share) {
  return share > 0 && uniform(random) < share;
}

std::int64_t between(Random& random, std::int64_t lowest, std::int64_t highest) {
  const auto span = static_cast<std::uint64_t>(highest - lowest) + 1;
  return lowest + static_cast<std::int64_t>(span == 0 ? random() : random() % span);
}

const Script& script() {
  return session.script;
}

DurableCounter::DurableCounter(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0 || ftruncate(file, sizeof(std::uint64_t)) != 0)
    throw std::system_error(errno, std::generic_category(), path.string());
  void* memory = mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), path.string());
  m_value = static_cast<std::uint64_t*>(memory);
}

DurableCounter::~DurableCounter() {
  munmap(m_value, sizeof(std::uint64_t));
}

}  // namespace mql::host
