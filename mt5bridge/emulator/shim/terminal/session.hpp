// The state of one run of the terminal that outlives or governs all its parts.
#pragma once

#include <cstdint>
#include <filesystem>

#include "host.hpp"
#include "script.hpp"

namespace mql::host {

// Use this data folder and script from now on; counts the run in the folder.
void open_session(const std::filesystem::path& data_folder, Script script);

// Which run of this data folder this is, from 1.
std::uint64_t run_number();

// A number in a file of the data folder that survives the process being killed at any moment.
class DurableCounter {
public:
  explicit DurableCounter(const std::filesystem::path& path);
  ~DurableCounter();
  DurableCounter(const DurableCounter&) = delete;
  DurableCounter& operator=(const DurableCounter&) = delete;
  std::uint64_t& value() { return *m_value; }

private:
  std::uint64_t* m_value;
};

// The clock of a terminal that shows recorded ticks: the newest tick's time.
void advance_clock(std::int64_t server_msc);
void set_server_offset_ms(std::int64_t offset_ms);

}  // namespace mql::host
