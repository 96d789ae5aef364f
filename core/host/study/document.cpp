#include "core/host/study/document.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <tuple>

#include "core/host/study/nesting.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Turns toml++'s tree into ours.
class Reader {
 public:
  /// @param fixed where everything stands, for text that is no file; nullptr: where toml++ says
  Reader(const std::string& file, const Location* fixed, Diagnostics& diagnostics)
      : file_(file), fixed_(fixed), diagnostics_(diagnostics) {}

  Node read(const toml::node& from) {
    Node node;
    node.where = node.key = locate(from.source());
    if (const auto* table = from.as_table()) {
      node.type = Node::Type::kTable;
      for (const auto& [key, value] : *table) {
        auto child = read(value);
        child.name = std::string(key.str());
        child.key = locate(key.source());
        if (child.name.find('.') != std::string::npos)
          diagnostics_.add(child.key,
                           fmt::format("the key \"{}\" is quoted and has a dot; write it without the quotes", child.name));
        node.children.push_back(std::move(child));
      }
      // toml++ sorts members by name; the order of axes is the file's.
      std::stable_sort(node.children.begin(), node.children.end(), [](const Node& a, const Node& b) {
        return std::tie(a.key.line, a.key.column) < std::tie(b.key.line, b.key.column);
      });
    } else if (const auto* array = from.as_array()) {
      node.type = Node::Type::kArray;
      node.value = json::array();
      for (const auto& item : *array) {
        node.children.push_back(read(item));
        node.value.push_back(node.children.back().value);
      }
    } else {
      read_scalar(from, node);
    }
    return node;
  }

  Location locate(const toml::source_region& region) const {
    if (fixed_ != nullptr) return *fixed_;
    return {file_, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
  }

 private:
  void read_scalar(const toml::node& from, Node& node) {
    if (const auto* boolean = from.as_boolean()) {
      node.value = boolean->get();
    } else if (const auto* integer = from.as_integer()) {
      node.value = integer->get();
    } else if (const auto* real = from.as_floating_point()) {
      node.value = real->get();
    } else if (const auto* text = from.as_string()) {
      node.value = text->get();
    } else {
      diagnostics_.add(node.where, "found a date or a time, which no parameter takes; put it in quotes if a text is meant");
      node.value = json(json::value_t::discarded);
    }
  }

  const std::string& file_;
  const Location* fixed_;
  Diagnostics& diagnostics_;
};

/// The remedy where a text that lacks its quotes is at the line and column (from 1), "" where none is: toml++ tries to read
/// plugin = tsoft as a truth value, and says so.
std::string unquoted_hint(const std::string& text, std::size_t line, std::size_t column) {
  std::size_t from = 0;
  for (; line > 1; --line) from = text.find('\n', from) + 1;
  const auto whole = text.substr(from, text.find('\n', from) - from);
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_-./+:@~").find(c) != std::string_view::npos;
  };
  std::size_t begin = std::min(column - 1, whole.size());
  if (begin == whole.size() && begin > 0) --begin;
  auto end = begin;
  while (begin > 0 && in_word(whole[begin - 1])) --begin;
  while (end < whole.size() && in_word(whole[end])) ++end;
  const auto word = whole.substr(begin, end - begin);
  const auto before = whole.find_last_not_of(" \t", begin == 0 ? 0 : begin - 1);
  // Behind an equals sign, or in a list behind one: [task is a header.
  const bool value = begin > 0 && before != std::string::npos && whole.find('=') <= before &&
                     std::string_view("=[,").find(whole[before]) != std::string_view::npos;
  const bool no_number =
      std::any_of(word.begin(), word.end(), [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '/'; });
  return value && no_number ? fmt::format("; a text needs quotes: \"{}\"", word) : "";
}

constexpr const char* kTooDeep = "nested more than {} levels deep, brackets and the parts of dotted keys counted";

std::optional<Node> parse_assignment(const std::string& value, const Location& where, Diagnostics& diagnostics) {
  const auto table = toml::parse("v = " + value);
  const auto* node = table.get("v");
  // A line break in the text could bring further keys.
  if (node == nullptr || table.size() != 1 || value.find_first_of("\r\n") != std::string::npos) return std::nullopt;
  return Reader(where.file, &where, diagnostics).read(*node);
}

}  // namespace

const Node* Node::find(std::string_view member) const {
  for (const auto& child : children)
    if (is_table() && child.name == member) return &child;
  return nullptr;
}

std::optional<Node> parse_document(const std::string& text, const std::string& file, Diagnostics& diagnostics) {
  if (const auto at = nested_too_deeply(text)) {
    diagnostics.add({file, at->line, at->column}, fmt::format(kTooDeep, kMostLevels));
    return std::nullopt;
  }
  try {
    const auto table = toml::parse(text, file);
    return Reader(file, nullptr, diagnostics).read(table);
  } catch (const toml::parse_error& error) {
    const auto& begin = error.source().begin;
    diagnostics.add({file, static_cast<int>(begin.line), static_cast<int>(begin.column)},
                    fmt::format("not valid TOML: {}{}", error.description(), unquoted_hint(text, begin.line, begin.column)));
    return std::nullopt;
  }
}

std::optional<Node> parse_value(const std::string& text, const Location& where, Diagnostics& diagnostics) {
  if (nested_too_deeply(text)) {
    diagnostics.add(where, "the value is " + fmt::format(kTooDeep, kMostLevels));
    return std::nullopt;
  }
  std::string why = "it has a line break";
  try {
    if (auto node = parse_assignment(text, where, diagnostics)) return node;
  } catch (const toml::parse_error& error) {
    why = error.description();
  }
  const bool word = !text.empty() && text.find_first_of("\"'[]{}=\r\n") == std::string::npos;
  try {
    if (word) return parse_assignment("'" + text + "'", where, diagnostics);
  } catch (const toml::parse_error&) {  // not UTF-8
  }
  diagnostics.add(where, fmt::format("the value is neither TOML nor a word ({}); expected for example 200, 1e-3, true, "
                                     "[\"1/2\", \"1/4\"] or a text",
                                     why));
  return std::nullopt;
}

}  // namespace ablate
