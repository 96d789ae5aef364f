#include "core/host/study/named_tables.h"

#include <fmt/format.h>

#include "core/host/study/document.h"
#include "core/util/plain_text.h"

namespace ablate {
namespace {

bool is_plain(const nlohmann::json& value) { return value.is_string() || value.is_number(); }

std::string text_of(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// Adds the values of a list. Each item may be a pair, written as a list.
void read_list(const Node& list, NamedTable::Asked& asked, Diagnostics& diagnostics) {
  for (const auto& item : list.children) {
    std::vector<const Node*> parts;
    for (const auto& part : item.children) parts.push_back(&part);
    if (!item.is_array()) parts = {&item};
    asked.each.push_back(static_cast<int>(parts.size()));
    for (const auto* part : parts)
      if (is_plain(part->value) && !part->is_array())
        asked.values.push_back(text_of(part->value)), asked.locations.push_back(part->where);
      else
        diagnostics.add(part->where, fmt::format("{}: expected texts or numbers in this list", asked.option));
  }
  if (list.children.empty()) diagnostics.add(list.where, fmt::format("{} = []: expected at least one value", asked.option));
}

NamedTable::Asked read_asked(const Node& node, Diagnostics& diagnostics) {
  NamedTable::Asked asked{.option = node.name, .key = node.key, .where = node.where};
  if (node.is_array()) {
    read_list(node, asked, diagnostics);
  } else if (node.value.is_boolean()) {
    asked.is_set = true;
    if (!node.value.get<bool>())
      diagnostics.add(node.where, fmt::format("{} = false: expected true; leave it out to turn it off", node.name));
  } else if (!node.is_table() && is_plain(node.value)) {
    asked.values = {text_of(node.value)}, asked.locations = {node.where}, asked.each = {1};
  } else {
    diagnostics.add(node.key, fmt::format("{}: expected a text, a number, true, or a list of them", node.name));
  }
  return asked;
}

}  // namespace

void read_tables(const Node& table, std::vector<NamedTable>& tables, Diagnostics& diagnostics) {
  constexpr const char* kRemedy = R"(write [table.NAME], and in it options of `ablate table`: metric = ["test/accuracy"])";
  if (!table.is_table()) return diagnostics.add(table.key, fmt::format("table is a section; {}", kRemedy));
  for (const auto& child : table.children) {
    if (!child.is_table()) {
      diagnostics.add(child.key, fmt::format("{} is in [table], which has no name; {}", child.name, kRemedy));
      continue;
    }
    const auto why = line_refusal(child.name);
    if (child.name.empty() || !why.empty())
      diagnostics.add(child.key, fmt::format("the table's name {}", child.name.empty() ? "is empty" : why));
    auto& named = tables.emplace_back(NamedTable{.name = child.name, .where = child.where});
    for (const auto& key : child.children) named.asked.push_back(read_asked(key, diagnostics));
  }
}

std::vector<NamedTable> named_tables(const std::string& text, const std::string& file) {
  std::vector<NamedTable> tables;
  Diagnostics diagnostics;
  if (const auto document = parse_document(text, file, diagnostics))
    if (const auto* table = document->find("table")) read_tables(*table, tables, diagnostics);
  return tables;
}

}  // namespace ablate
