// The sockets of one program: real TCP below, the terminal's behaviour and the script's faults above.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "session.hpp"

namespace mql::terminal {

// What the script lets go wrong; shares are of calls, bytes of a connection.
struct SocketFaults {
  std::vector<std::string> allowed;         // the list in the terminal's options; empty: everything
  double refuse = 0, slow_connect = 0;      // of connects
  double untimed = 0;                       // of SocketTimeouts, which fail
  double cut_short = 0, stall = 0, silence = 0;  // of sends
  double dummy = 0;                         // of looks at an empty socket after the first
  double trickle = 0;                       // of looks that see only some of the bytes
  std::int64_t slow_ms = 20, silence_ms = 1000;
  host::Range cut_after{0, 0};              // sent bytes after which a connection breaks; 0 never
  host::Range cut_after_read{0, 0};         // the same for received bytes
  bool nagle = true;                        // small sends wait for the peer's word, as without TCP_NODELAY
  int send_buffer = 0;                      // bytes of the system's buffer; 0 as it is

  static SocketFaults of(const host::Statement& statement);
};

enum class Fault { refused, slow_connect, cut_short, stalled, silent, cut, dummy, trickle, not_allowed, untimed };
constexpr std::size_t FAULTS = 10;
const char* fault_name(Fault fault);

struct SocketCounts {
  std::uint64_t connects = 0, sent = 0, received = 0, sends = 0, reads = 0;
  std::array<std::uint64_t, FAULTS> faults{};
};

// Results are the terminal's error codes; 0 is success.
class Sockets {
public:
  static constexpr std::size_t SOCKETS_MAX = 128;

  Sockets() = default;
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  ~Sockets();

  int create();  // a handle; -1 if there are too many
  int connect(int handle, const std::string& host, std::uint32_t port, std::int64_t timeout_ms);
  int set_timeouts(int handle, std::uint32_t send_ms, std::uint32_t receive_ms);
  int close(int handle);
  void drop_all();  // as if every peer had gone

  std::size_t count() const { return m_sockets.size(); }
  bool exists(int handle) const { return m_sockets.count(handle) != 0; }
  bool connected(int handle) const;
  int readable(int handle, std::uint32_t& bytes);
  bool writable(int handle);

  // Blocks until all is taken, the timeout (0: none) has passed or a fault strikes; `sent` bytes
  // were taken.
  int send(int handle, const unsigned char* bytes, std::size_t size, std::size_t& sent);

  // Blocks until `size` bytes are there or the timeout has passed.
  int receive(int handle, unsigned char* bytes, std::size_t size, std::int64_t timeout_ms,
              std::size_t& received);

  // Whether SocketRead puts bytes behind what the array holds; the documentation allows both.
  bool appends(int handle) const;

private:
  struct Socket {
    int descriptor = -1;
    bool connected = false, looked_at = false, appends = false;
    std::int64_t send_ms = 0;
    std::int64_t silent_until_us = 0;        // nothing passes either way; then it breaks
    std::uint64_t send_left = 0, read_left = 0;  // bytes until the connection breaks
  };

  Socket* find(int handle);
  bool alive(Socket& socket);
  void drop(Socket& socket);
  int prepare(Socket& socket);
  std::size_t shortened(std::size_t size);
  int push(Socket& socket, const unsigned char* bytes, std::size_t size, std::size_t& sent);
  int be_silent(Socket& socket, std::size_t size, std::size_t& sent);

  std::map<int, Socket> m_sockets;
  int m_next = 1;
};

void load_socket_faults(const host::Script& script);
const SocketCounts& socket_counts();

}  // namespace mql::terminal
