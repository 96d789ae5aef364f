// One coding of transactions for all files: the published Czech spellings, and two translations that are in use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ablate::transactions {

/// A value and all of its spellings.
struct Value {
  const char* name;
  std::span<const std::string_view> spellings;
};

/// The index of a value is its id.
std::span<const Value> types();
std::span<const Value> operations();
std::span<const Value> categories();

/// @return the id of the value with this spelling, or -1
std::int64_t id_of(std::span<const Value> values, std::string_view spelling);
/// Lists all spellings, for a message.
std::string spellings(std::span<const Value> values);

}  // namespace ablate::transactions
