// What the emulated terminal offers to its other parts: journal, folders, clocks, chance, crashes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string_view>

namespace mql::host {

class Script;

// To be called after every effect that is visible outside (file flushed, order accepted, bytes
// sent). `crash effect=N` in the script ends the process at the N-th call, as a crash would.
void effect(const char* name);

// Effects so far in this run.
std::uint64_t effects();

// One line of the terminal's journal on stdout: time, program, text. No program: the terminal.
void journal(std::string_view program, std::string_view line);

// The terminal's data folder; everything in it outlives the process.
const std::filesystem::path& data_folder();
const std::filesystem::path& files_folder();   // <data folder>/MQL5/Files
const std::filesystem::path& common_folder();  // <data folder>/Common/Files

// Microseconds of a clock that never goes back: what the terminal has computed, what it has waited,
// and what `pass_time` added. That the machine was busy with something else makes nobody late.
std::int64_t steady_us();

// Ten minutes pass at once.
void pass_time();

// For as long as the process sleeps; counts as waiting, at most as long as was meant.
class Sleep {
public:
  explicit Sleep(std::int64_t us_max);
  ~Sleep();
  Sleep(const Sleep&) = delete;
  Sleep& operator=(const Sleep&) = delete;

private:
  std::int64_t m_us_max, m_begin_us;
};

// UTC by the computer's clock, and the trade server's time, in milliseconds since 1970. With
// recorded ticks both follow the newest tick, else the computer's real clock.
std::int64_t utc_msc();
std::int64_t server_msc();

// Server time minus UTC; the script can change it during the run (summer time).
std::int64_t server_offset_ms();
std::int64_t clock_ahead_ms();  // of the computer, as set in the script

// One generator for each name, seeded by the script's seed, the name and the number of the run,
// so that what one part draws does not depend on how often another part draws.
using Random = std::mt19937_64;
Random& random(std::string_view stream);
double uniform(Random& random);
bool chance(Random& random, double share);
std::int64_t between(Random& random, std::int64_t lowest, std::int64_t highest);

// The session's script.
const Script& script();

}  // namespace mql::host
