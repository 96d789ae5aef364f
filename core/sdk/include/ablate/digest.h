// SHA-256 of content, as its identity. Torch-free.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>

struct evp_md_ctx_st;

namespace ablate {

/// SHA-256 of all data added, for one thread at a time. Numbers are added as they lie in memory. Throws std::runtime_error if
/// libcrypto fails.
class Digest {
 public:
  using Sum = std::array<std::uint8_t, 32>;

  Digest();

  Digest& add(const void* data, std::size_t bytes);
  /// Adds a number or a truth value.
  template <class T>
  requires std::is_arithmetic_v<T> Digest& add(T number) { return add(&number, sizeof number); }
  /// Adds numbers or a text, with their size in bytes before them, so that different lists of columns give different data.
  template <std::ranges::contiguous_range Column>
  Digest& add_column(const Column& column) {
    static_assert(std::is_arithmetic_v<std::ranges::range_value_t<Column>>, "a column is made of numbers or characters");
    const std::uint64_t bytes = std::ranges::size(column) * sizeof(std::ranges::range_value_t<Column>);
    return add(bytes).add(std::ranges::data(column), bytes);
  }

  /// Ends the digest: no data can be added afterwards.
  Sum sum();
  /// sum() in 64 hex digits.
  std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

std::string to_hex(const Digest::Sum& sum);

}  // namespace ablate
