// What a transaction is, in one coding for all files: Czech as published, and the two translations that are about.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ablate::transactions {

/// A value, with all of its spellings.
struct Value {
  const char* name;
  std::span<const std::string_view> spellings;
};

/// By id.
std::span<const Value> types();
std::span<const Value> operations();
std::span<const Value> categories();

/// @return the id of the value that is spelled so, or -1
std::int64_t id_of(std::span<const Value> values, std::string_view spelling);
/// All spellings, for a message.
std::string spellings(std::span<const Value> values);

}  // namespace ablate::transactions
