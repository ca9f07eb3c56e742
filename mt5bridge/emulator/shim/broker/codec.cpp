// Batches as bytes and back; both directions walk the records' `fields`.
#include "log.hpp"

#include <cstring>
#include <type_traits>

namespace mql::broker {

namespace {

class Writer {
public:
  template <class... Values> void operator()(const Values &...values) { (put(values), ...); }
  std::string bytes;

private:
  template <class Value> void put(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void put(const std::string& text) {
    put(static_cast<u16>(text.size()));
    bytes += text;
  }
};

class Reader {
public:
  explicit Reader(const std::string& bytes) : m_bytes(bytes) {}
  template <class... Values> void operator()(Values &...values) { (get(values), ...); }
  bool all_read() const { return m_good && m_at == m_bytes.size(); }
  bool good() const { return m_good; }

private:
  template <class Value> void get(Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (const char* from = take(sizeof value))
      std::memcpy(&value, from, sizeof value);
  }
  void get(std::string& text) {
    u16 size = 0;
    get(size);
    if (const char* from = take(size))
      text.assign(from, size);
  }
  const char* take(std::size_t size) {
    m_good = m_good && m_bytes.size() - m_at >= size;
    if (!m_good)
      return nullptr;
    m_at += size;
    return m_bytes.data() + m_at - size;
  }

  const std::string& m_bytes;
  std::size_t m_at = 0;
  bool m_good = true;
};

template <class Record> void read_record(Reader& reader, Batch& batch) {
  Record record;
  record.fields(reader);
  batch.emplace_back(std::move(record));
}

bool read_change(Reader& reader, Batch& batch) {
  std::uint8_t kind = 0;
  reader(kind);
  switch (kind) {
    case 0: read_record<Order>(reader, batch); break;
    case 1: read_record<Deal>(reader, batch); break;
    case 2: read_record<Position>(reader, batch); break;
    case 3: read_record<Money>(reader, batch); break;
    case 4: read_record<Request>(reader, batch); break;
    default: return false;
  }
  return reader.good();
}

}  // namespace

std::string encode(i64 server_msc, const Batch& batch) {
  Writer writer;
  writer(server_msc, static_cast<u16>(batch.size()));
  for (Change change : batch) {
    writer(static_cast<std::uint8_t>(change.index()));
    std::visit([&](auto& record) { record.fields(writer); }, change);
  }
  return writer.bytes;
}

bool decode(const std::string& body, i64& server_msc, Batch& batch) {
  Reader reader(body);
  u16 changes = 0;
  reader(server_msc, changes);
  for (u16 at = 0; reader.good() && at < changes; ++at)
    if (!read_change(reader, batch))
      return false;
  return reader.all_read();
}

}  // namespace mql::broker
