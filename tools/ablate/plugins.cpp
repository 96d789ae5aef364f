// ablate plugins: lists every library found, or describes one of them.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "core/host/client/start_worker.h"
#include "core/records/setting_paths.h"
#include "core/registry/plugin_info.h"
#include "core/registry/promises.h"
#include "core/shared/sections.h"
#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/plain_json.h"
#include "db/report/format.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/streams.h"
#include "tools/ablate/verdict_text.h"

namespace ablate {
namespace {

using nlohmann::json;
using Row = std::vector<std::string>;

/// Formats a value as a person writes it: "1/8", "1/2,1/4", "relu".
std::string value_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& item : value) text += (text.empty() ? "" : ",") + value_text(item);
  return text;
}

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

/// Writes Markdown: a table of attentions and a table of compressions, in the order of `plugins`. Tasks are left out.
std::string methods_table(std::span<const PluginInfo> plugins) {
  return "# Methods\n\n"
         "`ablate plugins --format markdown` writes this page from the plugins' own descriptions. Cost is how time and memory\n"
         "grow with the length n. Promises are the declared ones. A * marks a plugin whose parameters or parts may add or\n"
         "remove promises. `ablate check` tests every plugin against its promises ([checks.md](checks.md)).\n\n"
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

json to_json(const FoundLibrary& library) {
  json result =
      library.refusal.empty() ? to_json(library.info) : json{{"path", library.path.string()}, {"refusal", library.refusal}};
  if (!library.warnings.empty()) result["warnings"] = library.warnings;
  if (library.refusal.empty()) result["checks"] = to_json(user_verdicts().find(code_of(library.info)));
  return result;
}

std::vector<std::pair<std::string, std::string>> promise_lines(const PluginInfo& info) {
  const auto& c = info.capabilities;
  std::vector<std::pair<std::string, std::string>> lines;
  if (info.kind == Kind::kTask) return lines;
  for (const auto& promise : promises())
    if (c.*promise.field && (info.kind == Kind::kAttention ? promise.attention : promise.compression)) {
      std::string name = promise.name;
      std::replace(name.begin(), name.end(), '_', ' ');
      lines.emplace_back(name, promise.says);
    }
  lines.emplace_back("cost", fmt::format("time ~ n^{:g}, memory ~ n^{:g} in the length n{}", c.time_exponent, c.memory_exponent,
                                         c.length_multiple > 1 ? fmt::format("; n a multiple of {}", c.length_multiple) : ""));
  return lines;
}

void show_parameters(std::span<const ParameterInfo> parameters, const std::string& section) {
  print("Parameters, in [{}] of a study:\n", section);
  if (parameters.empty()) print("  none\n");
  std::size_t width = 0;
  for (const auto& p : parameters) width = std::max(width, p.name.size());
  for (const auto& p : parameters) {
    if (p.plugin_kind())
      print("  {:<{}}  {}, {}\n", p.name, width, expectation(p),
            p.type == ParameterType::kPlugin ? fmt::format("a section [{}.{}]", section, p.name)
                                             : fmt::format("sections [[{}.{}]]", section, p.name));
    else
      print("  {:<{}}  {}{}; default {}\n", p.name, width, expectation(p), p.unit.empty() ? "" : ", in " + p.unit,
            value_text(p.default_value));
    print("  {:<{}}  {}{}\n", "", width, p.help, p.when.empty() ? "" : "; read only if " + p.when);
  }
}

void show(const FoundLibrary& library, const Options& options) {
  const auto& info = library.info;
  print("{} ({} {})\n{}\n", info.id, to_text(info.kind), info.version, info.summary);
  if (!info.paper.empty()) print("Paper: {}\n", info.paper);
  print("Library: {}\n", path_text(info.path));
  print("Checked: {}\n", verdict_line(info, user_verdicts().find(code_of(info)), options));
  for (const auto& warning : library.warnings) print("Warning: {}\n", warning);
  print("\n");
  // A compression is a parameter of the attention that uses it.
  show_parameters(info.parameters, info.kind == Kind::kCompression ? setting::kAttentionCompression : to_text(info.kind));
  const auto lines = promise_lines(info);
  if (!lines.empty()) print("\nPromises{}:\n", info.promises_depend ? ", as declared (its parameters may change them)" : "");
  for (const auto& [name, what] : lines) print("  {:<18}  {}\n", name, what);
  if (!info.oracles.empty()) print("\nEquals:\n");
  for (const auto& o : info.oracles)
    print("  at {}: {}{}\n", o.at.dump(), o.plugin, o.with.empty() ? "" : " with " + o.with.dump());
  if (!info.exemptions.empty()) print("\nExempt; `ablate check` lists these as exempt:\n");
  for (const auto& e : info.exemptions)
    print("  {}{}, up to {}{}: {}\n", e.check, e.what.empty() ? "" : ", " + e.what, e.tolerance,
          e.when.empty() ? "" : " (" + e.when + ")", e.why);
}

/// @param wanted libraries that match the filters, out of `all`
void list(const std::vector<FoundLibrary>& wanted, std::size_t all, const std::vector<PluginFolder>& folders) {
  std::size_t width = 0;
  for (const auto& library : wanted) width = std::max(width, library.info.id.size());
  const auto verdicts = user_verdicts();
  for (const auto& [kind, name, part] : kPluginKinds) {
    bool first = true;
    for (const auto& library : wanted) {
      if (!library.refusal.empty() || library.info.kind != kind) continue;
      if (first) print("{}\n", name);
      first = false;
      const auto verdict = verdicts.find(code_of(library.info));
      print("  {:<{}}  {:<7}  {:<9}  {}\n", library.info.id, width, library.info.version, verdict_word(verdict),
            library.info.summary);
      if (verdict.has_failed()) print("  {:<{}}  FAILED: {}\n", "", width, verdict.failed_text());
      for (const auto& warning : library.warnings)
        print("  {:<{}}  warning: {}: {}\n", "", width, path_text(library.path), warning);
    }
  }
  bool any = false;
  for (const auto& library : wanted) {
    if (library.refusal.empty()) continue;
    if (!any) print("refused\n");
    any = true;
    print("  {}\n      {}\n", path_text(library.path), db::one_row(library.refusal));
  }
  if (wanted.empty() && all > 0) {
    print(
        "None of the {} libraries found has this kind and these promises; tasks have no promises. `ablate plugins` lists all "
        "libraries.\n",
        all);
  } else if (wanted.empty()) {
    print("No plugin library (*.so) was found. Searched folders:\n");
    for (const auto& folder : folders) print("  {}\n", path_text(folder.path));
  }
}

struct Wanted {
  std::string id, kind;
  db::Format format = db::Format::kText;
  std::vector<bool Capabilities::*> promises;  ///< all required promises, as methods declare them

  bool has(const PluginInfo& info) const {
    if (!kind.empty() && to_text(info.kind) != kind) return false;
    return std::all_of(promises.begin(), promises.end(),
                       [&](bool Capabilities::*promise) { return info.kind != Kind::kTask && info.capabilities.*promise; });
  }
  bool filters() const { return !kind.empty() || !promises.empty(); }
};

int plugins(const Wanted& wanted, const Options& options) {
  const auto& id = wanted.id;
  const auto format = wanted.format;
  const bool as_json = format == db::Format::kJson;
  if (!id.empty() && (wanted.filters() || format == db::Format::kMarkdown))
    throw Error(fmt::format("{} is a single plugin: filters and --format markdown need a list; leave out the ID", id));
  if (id == section::kModel || id == section::kTrain) {  // these are not plugins, but users look for them here
    const auto parameters = id == section::kModel ? model_parameters() : train_parameters();
    if (as_json) {
      const auto section = to_json(PluginInfo{.id = id, .parameters = {parameters.begin(), parameters.end()}});
      print("{}\n", plain_json(section.at("parameters"), 2));
    } else {
      show_parameters(parameters, id);
    }
    return 0;
  }
  auto executors = local_workers();
  if (is_path(id)) {
    const auto library = library_at(std::filesystem::absolute(id).lexically_normal(), executors);
    if (as_json)
      print("{}\n", plain_json(to_json(library), 2));
    else
      show(library, options);
    return 0;
  }
  auto libraries = find_libraries(options, executors);
  const auto count = libraries.size();
  if (id.empty()) {
    if (wanted.filters())
      std::erase_if(libraries, [&](const FoundLibrary& one) { return !one.refusal.empty() || !wanted.has(one.info); });
    if (format == db::Format::kMarkdown) {
      std::vector<PluginInfo> all;
      for (const auto& library : libraries)
        if (library.refusal.empty()) all.push_back(library.info);
      print("{}", methods_table(all));
    } else if (as_json) {
      json all = json::array();
      for (const auto& library : libraries) all.push_back(to_json(library));
      print("{}\n", plain_json(all, 2));
    } else {
      list(libraries, count, plugin_folders({options.plugins.begin(), options.plugins.end()}));
    }
    return 0;
  }
  std::vector<std::string> known = {"model", "train"};
  bool found = false;
  for (const auto& library : libraries) {
    if (!library.refusal.empty()) continue;
    known.push_back(library.info.id);
    if (library.info.id != id) continue;
    if (as_json) {
      print("{}\n", plain_json(to_json(library), 2));
    } else {
      if (found) print("\n");
      show(library, options);
    }
    found = true;
  }
  const auto catalog = catalog_of(libraries);
  if (const auto* refused = catalog.find_refused(id); refused != nullptr) {
    const auto why = fmt::format("{} is refused: {}", refused->path.string(), refused->reason);
    if (!found) throw Error(why, ExitCode::kPlugin);
    say("warning: {}\n", db::one_row(why));
  }
  if (found) return 0;
  if (kind_of_name(id)) throw Error(fmt::format("{0} is a kind of plugins: `ablate plugins --kind {0}` lists them", id));
  throw Error(fmt::format("no plugin {}{}; {}", id, hint(id, known), where_plugins_are(options, id)));
}

/// Returns "" if the text is a kind of plugin, else the error.
std::string refuse_kind(const std::string& text) {
  if (kind_of_name(text)) return "";
  std::vector<std::string> kinds;
  for (const auto& kind : kPluginKinds) kinds.emplace_back(kind.name);
  const auto near = nearest(text, kinds);
  return fmt::format("found {}, expected {}{}", text, kind_names(), near.empty() ? "" : " (did you mean " + near + "?)");
}

}  // namespace

void add_plugins(CLI::App& app, const Options& options, int& exit_code) {
  auto* command = app.add_subcommand("plugins", "List the plugin libraries found, or show one with its parameters")
                      ->group("Look at plugins");
  auto wanted = std::make_shared<Wanted>();
  command
      ->add_option("ID", wanted->id,
                   "show this plugin, or the library of a path: parameters with type, range, default and help; promises; "
                   "paper. Also: model, train")
      ->check(not_empty())
      ->type_name("");
  command->add_option("--kind", wanted->kind, "only plugins of this kind: attention, compression or task")
      ->check(CLI::Validator(refuse_kind, "", ""))
      ->type_name("KIND");
  for (const auto& promise : promises()) {
    auto name = std::string("--") + promise.name;
    std::replace(name.begin(), name.end(), '_', '-');
    command
        ->add_flag_callback(
            name, [=, field = promise.field] { wanted->promises.push_back(field); }, promise.says)
        ->group("Only methods that promise");
  }
  add_format(command, wanted->format, {"text", "markdown", "json"},
             "text, markdown (a page of all methods) or json; default: text");
  command->footer("Example:\n  ablate plugins adamra\n  ablate plugins --kind attention --causal --recurrent");
  command->callback([=, &options, &exit_code] { exit_code = plugins(*wanted, options); });
}

}  // namespace ablate
