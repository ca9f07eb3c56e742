// MQL5's socket functions.
#include <vector>

#include "attached.hpp"
#include "runtime.hpp"

namespace mql {
namespace {

constexpr std::int64_t READ_TIMEOUT_MS = 120'000;  // what a timeout of 0 means
constexpr uint READ_BYTES_MAX = 0x7FFFFFFF;

// The running program's sockets; nullptr, with the error set, where they are not allowed.
terminal::Sockets* sockets() {
  if (current().info().kind == ProgramKind::indicator || terminal::in_tester()) {
    fail(ERR_FUNCTION_NOT_ALLOWED);
    return nullptr;
  }
  return &terminal::self().sockets;
}

bool succeed(int error) {
  return error == 0 || fail(error);
}

}  // namespace

int SocketCreate(uint) {
  auto* own = sockets();
  if (own == nullptr)
    return INVALID_HANDLE;
  const int handle = own->create();
  if (handle < 0)
    fail(ERR_NETSOCKET_TOO_MANY_OPENED);
  return handle;
}

bool SocketConnect(int socket, const string& server, uint port, uint timeout_ms) {
  auto* own = sockets();
  return own != nullptr && succeed(own->connect(socket, server.utf8(), port, timeout_ms));
}

bool SocketIsConnected(int socket) {
  auto* own = sockets();
  if (own == nullptr)
    return false;
  if (!own->exists(socket))
    return fail(ERR_NETSOCKET_INVALIDHANDLE);
  return own->connected(socket);
}

uint SocketIsReadable(int socket) {
  auto* own = sockets();
  uint bytes = 0;
  if (own != nullptr)
    succeed(own->readable(socket, bytes));
  return bytes;
}

bool SocketIsWritable(int socket) {
  auto* own = sockets();
  if (own == nullptr)
    return false;
  if (!own->exists(socket))
    return fail(ERR_NETSOCKET_INVALIDHANDLE);
  return own->writable(socket);
}

bool SocketTimeouts(int socket, uint send_ms, uint receive_ms) {
  auto* own = sockets();
  return own != nullptr && succeed(own->set_timeouts(socket, send_ms, receive_ms));
}

int SocketRead(int socket, array_ref<uchar> buffer, uint size, uint timeout_ms) {
  auto* own = sockets();
  if (own == nullptr)
    return -1;
  if (size == 0 || size > READ_BYTES_MAX) {
    fail(ERR_INVALID_PARAMETER);
    return -1;
  }
  const int held = buffer.dynamic() && own->appends(socket) ? buffer.size() : 0;
  const auto wanted = buffer.dynamic() ? size : std::min<uint>(size, buffer.size());
  std::vector<uchar> bytes(wanted);
  std::size_t received = 0;
  const auto patience_ms = timeout_ms == 0 ? READ_TIMEOUT_MS : static_cast<std::int64_t>(timeout_ms);
  const int error = own->receive(socket, bytes.data(), bytes.size(), patience_ms, received);
  if (error != 0)
    fail(error);
  if (received == 0)
    return -1;
  const auto total = held + static_cast<long>(received);
  if (buffer.dynamic() && buffer.size() < total)
    buffer.resize(total);
  std::copy(bytes.begin(), bytes.begin() + static_cast<long>(received), buffer.data() + held);
  return static_cast<int>(received);
}

int SocketSend(int socket, array_ref<const uchar> buffer, uint size) {
  auto* own = sockets();
  if (own == nullptr)
    return -1;
  if (size > static_cast<uint>(buffer.size())) {
    fail(ERR_INVALID_PARAMETER);
    return -1;
  }
  std::size_t sent = 0;
  const int error = own->send(socket, buffer.data(), size, sent);
  terminal::terminal().yield_point();
  return succeed(error) ? static_cast<int>(sent) : -1;
}

bool SocketClose(int socket) {
  auto* own = sockets();
  return own != nullptr && succeed(own->close(socket));
}

}  // namespace mql
