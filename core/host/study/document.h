// Reads TOML files, and parses their text into a tree. Each value of the tree has its location in the file. The only part of
// the grid that knows toml++.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/study/diagnostics.h"

namespace ablate {

/// Of a regular file of at most 4 MiB. @param what it should be, for a message: "a study". Throws ConfigError.
std::string read_toml(const std::filesystem::path& file, const std::string& what);

struct Node {
  enum class Type { kValue, kArray, kTable };
  Type type = Type::kValue;
  std::string name;  ///< its key, where it is a table's member
  Location key;      ///< of its key; of the value itself where it has none
  Location where;    ///< of the value; a table's header or brace
  /// Values, arrays and tables in braces as JSON; null for a section without keys, discarded for what is reported already.
  nlohmann::json value;
  std::vector<Node> children;  ///< a table's members, or an array's items, in the order of the file

  bool is_table() const { return type == Type::kTable; }
  bool is_array() const { return type == Type::kArray; }
  /// True for a table whose keys are read as settings. `{}` is none: it stands where a value is expected, and has no keys.
  bool has_settings() const { return is_table() && !(children.empty() && value.is_object()); }
  const Node* find(std::string_view member) const;
};

/// Parses a file's text. Nothing, and a diagnostic, where it is no TOML or holds a date or a time.
std::optional<Node> parse_document(const std::string& text, const std::string& file, Diagnostics& diagnostics);

/// Parses the value of an override: a TOML value, or else a bare word as text. @param where given to the node and its items.
/// Nothing, and a diagnostic, where it is neither.
std::optional<Node> parse_value(const std::string& text, const Location& where, Diagnostics& diagnostics);

}  // namespace ablate
