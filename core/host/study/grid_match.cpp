#include "core/host/study/grid_match.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/host/study/draft.h"

namespace ablate {
namespace {

constexpr const char* kWidthKey = "width";
constexpr const char* kExample = "parameters = \"attention=softmax\" and width = \"model.hidden\"";

/// Returns the node's text. If the node is no text, returns nullopt, and adds a diagnostic.
std::optional<std::string> text_at(const Node& node, const char* expected, Diagnostics& diagnostics) {
  if (node.value.is_string() && !node.value.get_ref<const std::string&>().empty()) return node.value.get<std::string>();
  diagnostics.add(node.where, fmt::format("grid.match.{} = {}: expected {}", node.name, show(node.value), expected));
  return std::nullopt;
}

}  // namespace

std::optional<GridMatch> read_match(const Node& node, Diagnostics& diagnostics) {
  if (!node.is_table()) {
    diagnostics.add(node.key, fmt::format("grid.match is a table; write [grid.match], and in it {}", kExample));
    return std::nullopt;
  }
  const auto before = diagnostics.size();
  GridMatch match{.where = node.where};
  for (const auto& child : node.children) {
    if (child.name == kWidthKey) {
      if (auto path = text_at(child, "the path of a whole number, as \"model.hidden\"", diagnostics))
        match.asked.width = std::move(*path), match.width_at = child.where;
    } else if (child.name == StudyMatch::kParameters || child.name == StudyMatch::kStateBytes) {
      if (!match.asked.number.empty())
        diagnostics.add(child.key,
                        fmt::format("grid.match has {} already, and one width can match only one number; keep one of the two",
                                    match.asked.number));
      match.asked.number = child.name;
      if (auto row = text_at(child, R"(the reference's settings, as "attention=softmax")", diagnostics))
        match.asked.reference = std::move(*row), match.reference_at = child.where;
    } else {
      diagnostics.add(child.key,
                      fmt::format("unknown key {} in [grid.match]{}", child.name,
                                  suggestion(child.name, {StudyMatch::kParameters, StudyMatch::kStateBytes, kWidthKey})));
    }
  }
  if (diagnostics.size() == before && match.asked.number.empty())
    diagnostics.add(node.where, fmt::format("grid.match names no reference; write {}", kExample));
  if (diagnostics.size() == before && match.asked.width.empty())
    diagnostics.add(node.where, fmt::format("grid.match names no width that may change; write {}", kExample));
  return diagnostics.size() == before ? std::optional(std::move(match)) : std::nullopt;
}

bool is_set_by(const std::vector<std::string>& overrides, const GridMatch& match) {
  return std::any_of(overrides.begin(), overrides.end(),
                     [&](const auto& text) { return split_override(text).first == match.asked.width; });
}

std::optional<StudyMatch> match_of(const std::string& text, const std::string& file,
                                   const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  const auto document = parse_document(text, file, diagnostics);
  const auto* grid = document ? document->find("grid") : nullptr;
  const auto* node = grid == nullptr ? nullptr : grid->find("match");
  const auto match = node == nullptr ? std::nullopt : read_match(*node, diagnostics);
  return match && !is_set_by(overrides, *match) ? std::optional(match->asked) : std::nullopt;
}

}  // namespace ablate
