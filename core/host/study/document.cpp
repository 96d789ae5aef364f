#include "core/host/study/document.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <tuple>

#include "core/host/study/study.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Nesting is counted before a text is parsed, because the parser and the tree's destructor recurse.
constexpr int kMostLevels = 64;

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<Location> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'')
        skip_string(c);
      else if (c == '#')
        while (at_ < text_.size() && text_[at_] != '\n') advance();
      else {
        take(c);
        if (depth_ > kMostLevels) return where_;
        advance();
      }
    }
    return std::nullopt;
  }

 private:
  void take(char c) {
    if (c == '.') {
      ++dots_.back(), ++depth_;
    } else if (c == '[' || c == '{') {
      dots_.push_back(0), ++depth_;
    } else if (c == ']' || c == '}') {
      end_key();
      if (dots_.size() > 1) dots_.pop_back(), --depth_;
    } else if (c == ',' || c == '\n') {
      end_key();
    }
  }

  /// Ends a dotted key. The value counts as nested in the key's parts, and ends at a comma, a bracket or the line's end.
  void end_key() {
    depth_ -= dots_.back();
    dots_.back() = 0;
  }

  void skip_string(char quote) {
    const auto triple = text_.substr(at_, 3) == std::string(3, quote);
    for (int i = 0; i < (triple ? 3 : 1); ++i) advance();
    while (at_ < text_.size()) {
      if (!triple && text_[at_] == '\n') return;  // invalid TOML: the parser stops here
      if (quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') {
        advance(), advance();
      } else if (triple && text_.substr(at_, 3) == std::string(3, quote)) {
        // One or two quotes may precede the three quotes that end the string.
        for (int i = 0; i < 5 && at_ < text_.size() && text_[at_] == quote; ++i) advance();
        return;
      } else if (!triple && text_[at_] == quote) {
        return advance();
      } else {
        advance();
      }
    }
  }

  void advance() {
    const auto byte = static_cast<unsigned char>(text_[at_++]);
    if (byte == '\n')
      ++where_.line, where_.column = 1;
    else if ((byte & 0xC0) != 0x80)
      ++where_.column;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Location where_{"", 1, 1};
  std::vector<int> dots_ = {0};  ///< number of dots in the current key, for each open bracket
  int depth_ = 0;
};

/// Returns the position at which brackets, braces and parts of dotted keys together are nested deeper than kMostLevels, or
/// nullopt. Columns count characters, and the file is "". Skips strings and comments. In invalid TOML it may report too much,
/// but it never misses a depth that a parser would reach.
std::optional<Location> nested_too_deeply(std::string_view toml) { return Scanner(toml).run(); }

/// Converts toml++'s tree.
class Reader {
 public:
  /// @param fixed location of all nodes, for text without a file; null: toml++ has the locations
  Reader(const std::string& file, const Location* fixed, Diagnostics& diagnostics)
      : file_(file), fixed_(fixed), diagnostics_(diagnostics) {}

  Node read(const toml::node& from) {
    Node node;
    node.where = node.key = locate(from.source());
    if (const auto* table = from.as_table()) {
      node.type = Node::Type::kTable;
      if (table->is_inline()) node.value = json::object();
      for (const auto& [key, value] : *table) {
        auto child = read(value);
        child.name = std::string(key.str());
        child.key = locate(key.source());
        if (child.name.find('.') != std::string::npos)
          diagnostics_.add(child.key,
                           fmt::format("the key \"{}\" is quoted and has a dot; write it without the quotes", child.name));
        if (node.value.is_object()) node.value[child.name] = child.value;
        node.children.push_back(std::move(child));
      }
      // toml++ sorts members by name, but axes need the file's order.
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

/// Returns a remedy if a text at this line and column (from 1) lacks its quotes, else "". The message of toml++ misleads,
/// because toml++ reads plugin = tsoft as a truth value.
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
  // The word follows an equals sign, or is in a list after an equals sign. `[task` is a header.
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
  // A line break in the text could add further keys.
  if (node == nullptr || table.size() != 1 || value.find_first_of("\r\n") != std::string::npos) return std::nullopt;
  return Reader(where.file, &where, diagnostics).read(*node);
}

[[noreturn]] void cannot_read(const std::filesystem::path& file, const std::string& why) {
  std::vector<Diagnostic> diagnostics(1);
  diagnostics[0].where.file = file.string();
  diagnostics[0].message = "cannot be read: " + why;
  throw ConfigError(std::move(diagnostics));
}

constexpr std::size_t kMostBytes = 4 << 20;  ///< a study of 100,000 points is far smaller

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

std::string read_toml(const std::filesystem::path& file, const std::string& what) {
  struct Opened {
    int number;
    ~Opened() {
      if (number >= 0) close(number);
    }
  };
  // Without O_NONBLOCK, opening a pipe would block.
  const Opened in{open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (in.number < 0 || fstat(in.number, &status) != 0) cannot_read(file, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) cannot_read(file, "it is a folder; expected " + what + " in TOML");
  if (!S_ISREG(status.st_mode)) cannot_read(file, "it is no regular file; expected " + what + " in TOML");
  std::string text(kMostBytes + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    const auto some = read(in.number, text.data() + size, text.size() - size);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) cannot_read(file, std::strerror(errno));
    if (some == 0) break;
    size += static_cast<std::size_t>(some);
    if (size > kMostBytes) cannot_read(file, fmt::format("it is longer than {} MiB; is it {}?", kMostBytes >> 20, what));
  }
  text.resize(size);
  if (text.starts_with("\x1f\x8b")) cannot_read(file, "it is a gzip file; expected " + what + " in TOML, unpacked (gunzip)");
  return text;
}

}  // namespace ablate
