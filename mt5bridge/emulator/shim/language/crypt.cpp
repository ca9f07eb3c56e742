// SHA-256 (FIPS 180-4).
#include "crypt.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "program.hpp"

namespace mql {

namespace {

constexpr size_t block_bytes = 64, length_bytes = 8, digest_words = 8, rounds = 64;

using State = std::array<uint, digest_words>;

// The first 32 bits behind the point of a root of the n-th prime.
template <typename Root>
uint fraction(size_t n, Root root) {
  size_t prime = 1;
  for (size_t found = 0; found <= n;) {
    prime++;
    bool is_prime = true;
    for (size_t by = 2; by * by <= prime; by++) is_prime = is_prime && prime % by != 0;
    found += is_prime;
  }
  const long double value = root(static_cast<long double>(prime));
  return static_cast<uint>((value - std::floor(value)) * 4294967296.0L);
}

std::array<uint, rounds> round_constants() {
  std::array<uint, rounds> found{};
  for (size_t n = 0; n < rounds; n++)
    found[n] = fraction(n, [](long double x) { return std::cbrt(x); });
  return found;
}

State first_state() {
  State found{};
  for (size_t n = 0; n < digest_words; n++)
    found[n] = fraction(n, [](long double x) { return std::sqrt(x); });
  return found;
}

std::array<uint, rounds> schedule(const uchar* block) {
  std::array<uint, rounds> words{};
  for (size_t i = 0; i < 16; i++)
    for (size_t k = 0; k < 4; k++) words[i] = words[i] << 8 | block[4 * i + k];
  for (size_t i = 16; i < rounds; i++) {
    const uint low = words[i - 15], high = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(low, 7) ^ std::rotr(low, 18) ^ low >> 3) + words[i - 7] +
               (std::rotr(high, 17) ^ std::rotr(high, 19) ^ high >> 10);
  }
  return words;
}

void compress(State& state, const uchar* block) {
  static const auto constants = round_constants();
  const auto words = schedule(block);
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < rounds; i++) {
    const uint mixed = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint one = h + mixed + ((e & f) ^ (~e & g)) + constants[i] + words[i];
    const uint turned = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint two = turned + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  const State added{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < digest_words; i++) state[i] += added[i];
}

std::vector<uchar> sha256(std::vector<uchar> data) {
  const auto bits = static_cast<ulong>(data.size()) * 8;
  data.push_back(0x80);
  while (data.size() % block_bytes != block_bytes - length_bytes) data.push_back(0);
  for (int shift = 56; shift >= 0; shift -= 8) data.push_back(static_cast<uchar>(bits >> shift));
  State state = first_state();
  for (size_t at = 0; at < data.size(); at += block_bytes) compress(state, data.data() + at);
  std::vector<uchar> digest;
  for (const uint word : state)
    for (int shift = 24; shift >= 0; shift -= 8) digest.push_back(static_cast<uchar>(word >> shift));
  return digest;
}

}  // namespace

int CryptEncode(ENUM_CRYPT_METHOD method, array_ref<const uchar> data, array_ref<const uchar>,
                array_ref<uchar> result) {
  if (method != CRYPT_HASH_SHA256) stop_program("CryptEncode of another kind than SHA-256", "", 0);
  const auto digest = sha256({data.data(), data.data() + data.size()});
  result.resize(static_cast<int>(digest.size()));
  std::copy(digest.begin(), digest.end(), result.data());
  return static_cast<int>(digest.size());
}

}  // namespace mql
