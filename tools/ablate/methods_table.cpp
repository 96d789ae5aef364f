#include "tools/ablate/methods_table.h"

#include <fmt/format.h>

#include "db/report/format.h"

namespace ablate {
namespace {

using Row = std::vector<std::string>;

std::string power(double exponent) { return exponent == 1 ? "n" : fmt::format("n^{:g}", exponent); }

std::string cost(const Capabilities& c) {
  return c.time_exponent == c.memory_exponent ? power(c.time_exponent)
                                              : fmt::format("{}, {}", power(c.time_exponent), power(c.memory_exponent));
}

std::string parameters(const PluginInfo& info) {
  std::string text;
  for (const auto& p : info.parameters)
    text += (text.empty() ? "" : ", ") +
            (p.plugin_kind() ? fmt::format("{} ({})", p.name, expectation(p)) : p.name + " = " + value_text(p.default_value));
  return text;
}

std::string yes(bool promised) { return promised ? "yes" : ""; }

Row attention(const PluginInfo& info) {
  const auto& c = info.capabilities;
  return {info.id + (info.promises_depend ? " *" : ""),
          info.summary,
          info.paper,
          cost(c),
          !c.causal         ? ""
          : c.bidirectional ? "yes"
                            : "only",
          c.holes ? "anywhere" : yes(c.key_padding),
          c.recurrent  ? "token by token"
          : c.stateful ? "by segments"
                       : "",
          parameters(info)};
}

Row compression(const PluginInfo& info) {
  const auto& c = info.capabilities;
  return {info.id + (info.promises_depend ? " *" : ""),
          info.summary,
          info.paper,
          cost(c),
          yes(c.causal_reads),
          yes(c.fixed_slots),
          yes(c.extends),
          yes(c.beside_tokens),
          parameters(info)};
}

std::string table(std::span<const PluginInfo> plugins, Kind kind, const Row& header, Row (*row)(const PluginInfo&)) {
  std::vector<Row> rows = {header};
  for (const auto& info : plugins)
    if (info.kind == kind) rows.push_back(row(info));
  return rows.size() > 1 ? db::render_markdown(rows) : "none\n";
}

}  // namespace

std::string value_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& item : value) text += (text.empty() ? "" : ",") + value_text(item);
  return text;
}

std::string methods_table(std::span<const PluginInfo> plugins) {
  return "# Methods\n\n"
         "What the plugins say of themselves, written by `ablate plugins --format markdown`. Cost is how time and memory\n"
         "grow with the length n. Promises are those declared; of one marked * parameters, or the plugins among them, may\n"
         "give or take some. `ablate check` holds all of them to what they promise ([checks.md](checks.md)).\n\n"
         "## Attention\n\n" +
         table(plugins, Kind::kAttention,
               {"id", "what it is", "paper", "cost", "causal", "padding", "state", "parameters and their defaults"},
               attention) +
         "\n## Compression\n\n" +
         table(plugins, Kind::kCompression,
               {"id", "what it is", "paper", "cost", "causal reads", "fixed slots", "extends", "beside tokens",
                "parameters and their defaults"},
               compression);
}

}  // namespace ablate
