// TCP clients with the terminal's timeouts and error codes, and faults on purpose.
#include "sockets.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "enums.hpp"
#include "runtime.hpp"

namespace mql::terminal {
namespace {

constexpr std::uint64_t UNLIMITED = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t FOREVER_US = std::numeric_limits<std::int64_t>::max() / 2;

SocketFaults faults;
SocketCounts counts;

host::Random& draws() {
  return host::random("sockets");
}

bool strikes(Fault fault, double share) {
  const bool strikes = host::chance(draws(), share);
  counts.faults[static_cast<std::size_t>(fault)] += strikes;
  return strikes;
}

std::uint64_t bytes_until_cut(const host::Range& range) {
  if (range.second <= 0)
    return UNLIMITED;
  return static_cast<std::uint64_t>(host::between(draws(), range.first, range.second));
}

// A connected descriptor or -1.
int dial(const addrinfo& address, std::int64_t timeout_us) {
  const int descriptor = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0)
    return -1;
  const int on = 1;
  if (!faults.nagle)
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (faults.send_buffer > 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &faults.send_buffer, sizeof faults.send_buffer);
  bool done = ::connect(descriptor, address.ai_addr, address.ai_addrlen) == 0;
  if (!done && errno == EINPROGRESS && terminal().wait_for(descriptor, POLLOUT, timeout_us)) {
    int error = 0;
    socklen_t size = sizeof error;
    done = getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
  }
  if (done)
    return descriptor;
  ::close(descriptor);
  return -1;
}

int dial(const std::string& host, std::uint32_t port, std::int64_t timeout_us) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    return -1;
  int descriptor = -1;
  for (const addrinfo* at = found; at != nullptr && descriptor < 0; at = at->ai_next)
    descriptor = dial(*at, timeout_us);
  freeaddrinfo(found);
  return descriptor;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    words.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return words;
}

}  // namespace

SocketFaults SocketFaults::of(const host::Statement& statement) {
  SocketFaults faults;
  faults.allowed = words_of(statement.text("allowed"));
  faults.refuse = statement.number("refuse");
  faults.slow_connect = statement.number("slow_connect");
  faults.untimed = statement.number("untimed");
  faults.slow_ms = statement.integer("slow_ms", faults.slow_ms);
  faults.cut_short = statement.number("short");
  faults.stall = statement.number("stall");
  faults.silence = statement.number("silence");
  faults.silence_ms = statement.integer("silence_ms", faults.silence_ms);
  faults.dummy = statement.number("dummy");
  faults.trickle = statement.number("trickle");
  faults.cut_after = statement.range("cut_after");
  faults.cut_after_read = statement.range("cut_after_read");
  faults.nagle = statement.flag("nagle", faults.nagle);
  faults.send_buffer = static_cast<int>(statement.integer("send_buffer"));
  return faults;
}

const char* fault_name(Fault fault) {
  static constexpr std::array<const char*, FAULTS> names = {
      "refused", "slow_connect", "short", "stalled", "silent", "cut", "dummy", "trickle",
      "not_allowed", "untimed"};
  return names[static_cast<std::size_t>(fault)];
}

void load_socket_faults(const host::Script& script) {
  faults = SocketFaults::of(script.merged("sockets"));
}

const SocketCounts& socket_counts() {
  return counts;
}

Sockets::~Sockets() {
  for (auto& [handle, socket] : m_sockets)
    drop(socket);
}

int Sockets::create() {
  if (m_sockets.size() >= SOCKETS_MAX)
    return -1;
  m_sockets[m_next].appends = host::chance(draws(), 0.5);
  return m_next++;
}

int Sockets::connect(int handle, const std::string& host, std::uint32_t port,
                     std::int64_t timeout_ms) {
  auto* socket = find(handle);
  if (socket == nullptr || socket->connected)
    return ERR_NETSOCKET_INVALIDHANDLE;
  const auto& allowed = faults.allowed;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), host) == allowed.end()) {
    ++counts.faults[static_cast<std::size_t>(Fault::not_allowed)];
    return ERR_FUNCTION_NOT_ALLOWED;
  }
  ++counts.connects;
  if (strikes(Fault::slow_connect, faults.slow_connect)) {
    terminal().wait_us(1000 * std::min(faults.slow_ms, timeout_ms));
    if (faults.slow_ms >= timeout_ms)
      return ERR_NETSOCKET_CANNOT_CONNECT;
  }
  if (strikes(Fault::refused, faults.refuse))
    return ERR_NETSOCKET_CANNOT_CONNECT;
  drop(*socket);
  socket->descriptor = dial(host, port, 1000 * timeout_ms);
  if (socket->descriptor < 0)
    return ERR_NETSOCKET_CANNOT_CONNECT;
  socket->connected = true;
  socket->looked_at = false;
  socket->silent_until_us = 0;
  socket->send_left = bytes_until_cut(faults.cut_after);
  socket->read_left = bytes_until_cut(faults.cut_after_read);
  host::effect("socket_connect");
  return 0;
}

int Sockets::set_timeouts(int handle, std::uint32_t send_ms, std::uint32_t) {
  auto* socket = find(handle);
  if (socket == nullptr)
    return ERR_NETSOCKET_INVALIDHANDLE;
  if (strikes(Fault::untimed, faults.untimed))
    return ERR_NETSOCKET_IO_ERROR;
  socket->send_ms = send_ms;  // reading has its own timeout in each call
  return 0;
}

int Sockets::close(int handle) {
  auto* socket = find(handle);
  if (socket == nullptr)
    return ERR_NETSOCKET_INVALIDHANDLE;
  drop(*socket);
  m_sockets.erase(handle);
  return 0;
}

void Sockets::drop_all() {
  for (auto& [handle, socket] : m_sockets)
    if (socket.descriptor >= 0)
      shutdown(socket.descriptor, SHUT_RDWR);
}

bool Sockets::connected(int handle) const {
  const auto found = m_sockets.find(handle);
  return found != m_sockets.end() && found->second.connected;
}

bool Sockets::appends(int handle) const {
  const auto found = m_sockets.find(handle);
  return found != m_sockets.end() && found->second.appends;
}

Sockets::Socket* Sockets::find(int handle) {
  const auto found = m_sockets.find(handle);
  return found == m_sockets.end() ? nullptr : &found->second;
}

void Sockets::drop(Socket& socket) {
  if (socket.descriptor >= 0)
    ::close(socket.descriptor);
  socket.descriptor = -1;
  socket.connected = false;
}

// A connection that was silent long enough turns out to be broken.
bool Sockets::alive(Socket& socket) {
  if (socket.silent_until_us != 0 && host::steady_us() >= socket.silent_until_us)
    drop(socket);
  return socket.connected;
}

int Sockets::readable(int handle, std::uint32_t& bytes) {
  bytes = 0;
  auto* socket = find(handle);
  if (socket == nullptr)
    return ERR_NETSOCKET_INVALIDHANDLE;
  if (!alive(*socket))
    return ERR_NETSOCKET_IO_ERROR;
  int waiting = 0;
  if (socket->silent_until_us == 0 && ioctl(socket->descriptor, FIONREAD, &waiting) != 0)
    waiting = 0;
  unsigned char byte = 0;
  const bool closed = waiting == 0 && socket->silent_until_us == 0 &&
                      recv(socket->descriptor, &byte, 1, MSG_PEEK) == 0;
  if (closed) {
    drop(*socket);
    return ERR_NETSOCKET_IO_ERROR;
  }
  bytes = static_cast<std::uint32_t>(waiting);
  if (waiting == 0 && (!socket->looked_at || strikes(Fault::dummy, faults.dummy)))
    bytes = 1;  // the terminal guesses before the first look
  if (waiting > 1 && strikes(Fault::trickle, faults.trickle))
    bytes = static_cast<std::uint32_t>(host::between(draws(), 1, waiting - 1));
  socket->looked_at = true;
  return 0;
}

bool Sockets::writable(int handle) {
  auto* socket = find(handle);
  if (socket == nullptr || !alive(*socket))
    return false;
  pollfd waiting{socket->descriptor, POLLOUT, 0};
  return socket->silent_until_us != 0 || poll(&waiting, 1, 0) == 1;
}

int Sockets::send(int handle, const unsigned char* bytes, std::size_t size, std::size_t& sent) {
  sent = 0;
  auto* socket = find(handle);
  if (socket == nullptr)
    return ERR_NETSOCKET_INVALIDHANDLE;
  if (!alive(*socket))
    return ERR_NETSOCKET_IO_ERROR;
  if (size == 0)
    return 0;
  ++counts.sends;
  if (socket->silent_until_us != 0 || strikes(Fault::silent, faults.silence))
    return be_silent(*socket, size, sent);
  if (strikes(Fault::stalled, faults.stall)) {
    terminal().wait_us(socket->send_ms == 0 ? FOREVER_US : 1000 * socket->send_ms);
    drop(*socket);
    return ERR_NETSOCKET_IO_ERROR;
  }
  const int error = push(*socket, bytes, shortened(size), sent);
  counts.sent += sent;
  if (sent > 0) {
    terminal().count_sent(sent);
    host::effect("socket_send");
  }
  return error;
}

std::size_t Sockets::shortened(std::size_t size) {
  if (size < 2 || !strikes(Fault::cut_short, faults.cut_short))
    return size;
  return static_cast<std::size_t>(host::between(draws(), 1, static_cast<std::int64_t>(size) - 1));
}

// The system takes the bytes, and they go nowhere.
int Sockets::be_silent(Socket& socket, std::size_t size, std::size_t& sent) {
  if (socket.silent_until_us == 0)
    socket.silent_until_us = host::steady_us() + 1000 * faults.silence_ms;
  sent = size;
  return 0;
}

int Sockets::push(Socket& socket, const unsigned char* bytes, std::size_t size,
                  std::size_t& sent) {
  const bool cut = size >= socket.send_left;
  if (cut)
    size = socket.send_left;
  const auto patience_us = socket.send_ms == 0 ? FOREVER_US : 1000 * socket.send_ms;
  const auto deadline_us = host::steady_us() + patience_us;
  bool broken = false;
  while (sent < size && !broken) {
    const auto taken = ::send(socket.descriptor, bytes + sent, size - sent, MSG_NOSIGNAL);
    if (taken > 0) {
      sent += static_cast<std::size_t>(taken);
    } else if (errno == EAGAIN) {
      if (!terminal().wait_for(socket.descriptor, POLLOUT, deadline_us - host::steady_us()))
        break;
    } else {
      broken = errno != EINTR;
    }
  }
  if (socket.send_left != UNLIMITED)
    socket.send_left -= sent;
  if (cut && sent == size) {
    ++counts.faults[static_cast<std::size_t>(Fault::cut)];
    broken = true;
  }
  if (broken || sent == 0)
    drop(socket);
  return socket.connected || sent > 0 ? 0 : ERR_NETSOCKET_IO_ERROR;
}

int Sockets::receive(int handle, unsigned char* bytes, std::size_t size, std::int64_t timeout_ms,
                     std::size_t& received) {
  received = 0;
  auto* socket = find(handle);
  if (socket == nullptr)
    return ERR_NETSOCKET_INVALIDHANDLE;
  if (!alive(*socket))
    return ERR_NETSOCKET_IO_ERROR;
  ++counts.reads;
  const auto deadline_us = host::steady_us() + 1000 * timeout_ms;
  if (socket->silent_until_us != 0) {
    terminal().wait_us(1000 * timeout_ms);
    return alive(*socket) ? 0 : ERR_NETSOCKET_IO_ERROR;
  }
  while (received < size) {
    const auto room = std::min<std::uint64_t>(size - received, socket->read_left);
    const auto got = room == 0 ? 0 : recv(socket->descriptor, bytes + received, room, 0);
    if (got > 0) {
      received += static_cast<std::size_t>(got);
      if (socket->read_left != UNLIMITED)
        socket->read_left -= static_cast<std::uint64_t>(got);
    } else if (got < 0 && errno == EAGAIN) {
      if (!terminal().wait_for(socket->descriptor, POLLIN, deadline_us - host::steady_us()))
        break;
    } else if (got == 0 || errno != EINTR) {
      if (room == 0)
        ++counts.faults[static_cast<std::size_t>(Fault::cut)];
      drop(*socket);
      break;
    }
  }
  counts.received += received;
  return socket->connected || received > 0 ? 0 : ERR_NETSOCKET_IO_ERROR;
}

}  // namespace mql::terminal
