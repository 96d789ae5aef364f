// Parses TOML files into a tree. Each value of the tree has its location in the file. Only this part of the host uses toml++.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/study/diagnostics.h"

namespace ablate {

/// Reads a regular file of at most 4 MiB. Throws a ConfigError that names the expected content, `what`: "a study".
std::string read_toml(const std::filesystem::path& file, const std::string& what);

struct Node {
  enum class Type { kValue, kArray, kTable };
  Type type = Type::kValue;
  std::string name;  ///< key of a table's member
  Location key;      ///< location of the value's key, or of the value if it has no key
  Location where;    ///< location of the value, or of a table's header or brace
  /// Values, arrays and inline tables as JSON. Null for a table that is not inline; `discarded` (json::value_t) if an
  /// error was reported.
  nlohmann::json value;
  std::vector<Node> children;  ///< a table's members, or an array's items, in the order of the file

  bool is_table() const { return type == Type::kTable; }
  bool is_array() const { return type == Type::kArray; }
  /// True for a table whose keys are settings. False for `{}`, which has no keys and counts as a value.
  bool has_settings() const { return is_table() && !(children.empty() && value.is_object()); }
  const Node* find(std::string_view member) const;
};

/// Parses a file's text. Returns nullopt, and adds a diagnostic, if it is not TOML or has a date or a time.
std::optional<Node> parse_document(const std::string& text, const std::string& file, Diagnostics& diagnostics);

/// Parses the value of an override: a TOML value, or else a bare word as text. Returns nullopt, and adds a diagnostic, if the
/// text is neither. The value's nodes get the location `where`.
std::optional<Node> parse_value(const std::string& text, const Location& where, Diagnostics& diagnostics);

}  // namespace ablate
