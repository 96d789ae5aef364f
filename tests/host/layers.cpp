#include "tests/host/layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "core/util/error.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

const std::set<std::string> kGenerated = {"git_revision.h"};  ///< headers written by the build

std::string trimmed(const std::string& text) {
  const auto from = text.find_first_not_of(" /\t"), to = text.find_last_not_of(" ./\t");
  return from == std::string::npos ? "" : text.substr(from, to + 1 - from);
}

/// True if `name` is a whole part of the path: "core/host/study" has "study", "host" and "core", but not "hos".
bool has_name(const std::string& room, const std::string& name) {
  return ("/" + room + "/").find("/" + name + "/") != std::string::npos;
}

std::vector<std::string> files(const fs::path& root, const std::vector<std::string>& folders) {
  std::vector<std::string> found;
  for (const auto& folder : folders) {
    if (!fs::is_directory(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const auto end = entry.path().extension();
      if (entry.is_regular_file() && (end == ".cpp" || end == ".h" || end == ".cu"))
        found.push_back(fs::relative(entry.path(), root).string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Returns the innermost room that contains a file, or "" if there is none.
std::string room_of(const Layers& layers, const std::string& file) {
  std::string found;
  for (const auto& [room, unused] : layers)
    if (file.starts_with(room + "/") && room.size() > found.size()) found = room;
  return found;
}

/// Returns a plugin's folder under plugins/, which identifies the plugin.
std::string plugin_of(const std::string& file) {
  const std::string kPlugins = "plugins/";
  return file.starts_with(kPlugins) ? file.substr(0, file.find('/', kPlugins.size())) : "";
}

/// Returns the file of the tree that an include refers to, or "" for a file of a library.
std::string meant(const fs::path& root, const std::string& file, const std::string& included) {
  const auto beside = (fs::path(file).parent_path() / included).lexically_normal();
  for (const auto& path : {beside, fs::path(included), fs::path("core/sdk/include") / included})
    if (fs::is_regular_file(root / path)) return path.string();
  return "";
}

/// Returns the error in an include, or "" if it is allowed.
std::string wrong(const fs::path& root, const Layers& layers, const std::string& file, const std::string& included,
                  bool quoted) {
  const auto own = room_of(layers, file);
  const auto target = meant(root, file, included);
  if (target.empty()) {
    if (quoted && !kGenerated.contains(included)) return "is not in the tree";
    const bool sqlite = included.starts_with("SQLiteCpp/") || included == "sqlite3.h";
    return sqlite && own != "db/history" && own != "db/questions" ? "is SQLite, allowed in db/history and db/questions" : "";
  }
  const auto room = room_of(layers, target);
  if (room != own && !layers.at(own).contains(room))
    return fmt::format("is in {}, allowed for {}: {}", room.empty() ? "no layer" : room, own, fmt::join(layers.at(own), ", "));
  if (plugin_of(file) != plugin_of(target) && !plugin_of(target).empty())
    return fmt::format("is in {}, allowed for {}: its own folder, core/sdk", plugin_of(target), plugin_of(file));
  return "";
}

}  // namespace

Layers read_layers(const std::string& design) {
  std::map<std::string, std::vector<std::string>> named;  // by room
  std::istringstream text(design.substr(std::min(design.find("## Layers"), design.size())));
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line) && line.starts_with("    ")) {
    const auto arrow = line.rfind("->");
    const auto room = trimmed(line.substr(0, line.find(' ', 4)));
    auto& names = named[room];
    std::istringstream list(arrow == std::string::npos ? "" : line.substr(arrow + 2));
    for (std::string name; std::getline(list, name, ',');) names.push_back(trimmed(name));
  }
  if (named.empty()) throw Error("docs/design.md has no list of layers: expected indented lines under \"## Layers\"");
  Layers layers;
  for (const auto& [room, names] : named)
    for (const auto& name : names) {
      const auto before = layers[room].size();
      for (const auto& [other, unused] : named)
        if (other != room && has_name(other, name)) layers[room].insert(other);
      if (layers[room].size() == before)
        throw Error(fmt::format(
            "docs/design.md: {} -> {}: no listed folder has this name, or other names on this line include all of its folders",
            room, name));
    }
  for (const auto& [room, unused] : named) layers[room];  // rooms that include nothing
  for (bool grown = true; grown;) {
    grown = false;
    for (auto& [room, below] : layers)
      for (const auto& one : std::set<std::string>(below))
        for (const auto& further : layers.at(one)) grown = below.insert(further).second || grown;
  }
  for (const auto& [room, below] : layers)
    if (below.contains(room)) throw Error(fmt::format("docs/design.md: {} includes itself through another room", room));
  return layers;
}

std::vector<std::string> wrong_includes(const fs::path& root, const Layers& layers) {
  static const std::regex include(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
  std::vector<std::string> all;
  for (const auto& file : files(root, {"core", "db", "plugins", "tools"})) {
    if (room_of(layers, file).empty()) {
      all.push_back(fmt::format("{}:1: found in no layer, expected one of those in docs/design.md", file));
      continue;
    }
    std::ifstream in(root / file);
    std::smatch found;
    int number = 0;
    for (std::string line; ++number, std::getline(in, line);)
      if (std::regex_search(line, found, include))
        if (const auto what = wrong(root, layers, file, found[2], found[1] == "\""); !what.empty())
          all.push_back(fmt::format("{}:{}: found {}, which {}", file, number, found[2].str(), what));
  }
  return all;
}

std::vector<std::string> types_defined_twice(const fs::path& root) {
  static const std::regex space(R"(^namespace ([\w:]+) \{)"), type(R"(^(?:class|struct|union|enum(?: class)?) (\w+)[^;]*\{)");
  std::map<std::string, std::vector<std::string>> headers;  // by type
  for (const auto& file : files(root, {"core", "db", "tools"})) {
    if (!file.ends_with(".h")) continue;
    std::ifstream in(root / file);
    std::smatch found;
    std::string within;
    for (std::string line; std::getline(in, line);)
      if (std::regex_search(line, found, space))
        within = found[1];
      else if (std::regex_search(line, found, type))
        headers[within + "::" + found[1].str()].push_back(file);
  }
  std::vector<std::string> all;
  for (const auto& [name, in] : headers)
    if (in.size() > 1) all.push_back(fmt::format("{}: found in {}, allowed in one of them", name, fmt::join(in, ", ")));
  return all;
}

namespace {

/// Parts of a trial's document or of a setting's path that a source may contain as text.
struct MayKnow {
  const char* begin;  ///< beginning of the source's path
  bool all;           ///< true: any part; false: only forms that the next members allow, and no sections of documents
  bool dotted = false, compared = false;
};

const MayKnow kMayKnow[] = {
    {"core/shared/trial_spec.cpp", true},  // converts between a trial and its document
    {"core/records/", true},               // defines the names of sections and paths
    // The tables of a study's file have the names of sections.
    {"core/host/study/", false, false, true},
    // An optimizer or a schedule names its own parameters, and the settings that these depend on.
    {"core/shared/optimizers/", false, true, false},
    {"core/shared/schedules/", false, true, false},
    // The module of a plugin is called "attention", and the names of its tensors begin with "attention.".
    {"core/trial/conformance/", false, true, true},
};

MayKnow may_know(const std::string& file) {
  for (const auto& one : kMayKnow)
    if (file.starts_with(one.begin)) return one;
  return {"", false};
}

}  // namespace

std::vector<std::string> literal_sections(const fs::path& root) {
  const std::string names = "(task|model|attention|train|compression|seed)";
  const std::string name = "(\"" + names + "\"|section::k\\w+)", ask = "\\b(at|find|contains|value|erase|count)\\(";
  // These match code that reads or writes a section of a document, or lists it in a new object, but not entries of a schema.
  const std::regex read(ask + name), subscript("(^|[^_])\\[" + name + "\\]"), member("(^|[ {(,])\\{" + name + ", *([^\" ]|$)"),
      sql("\\$\\." + names + "\\b"), plugin(ask + "\"plugin\"");
  // These match a path or the beginning of a path. Texts for users do not match, because they contain blanks.
  const std::regex dotted("\"" + names + "\\.[\\w.{}]*\""),
      compared("[=!]= *\"(task|model|attention|train|seed)\"|starts_with\\(\"" + names + "\"");
  std::vector<std::string> all;
  for (const auto& file : files(root, {"core", "db", "tools"})) {
    const auto may = may_know(file);
    if (may.all) continue;
    const bool plugins_section = file.starts_with("core/") && !file.starts_with("core/host/");  // may read a plugin's section
    std::ifstream in(root / file);
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      line = line.substr(0, line.find("//"));
      std::smatch found;
      const auto look = [&](bool is_allowed, const std::regex& how, const char* allowed) {
        if (!is_allowed && std::regex_search(line, found, how))
          all.push_back(fmt::format("{}:{}: found {}, allowed {}", file, number, trimmed(found.str()), allowed));
      };
      for (const auto* how : {&read, &subscript, &member, &sql}) look(false, *how, "members of TrialSpec");
      look(plugins_section, plugin, "members of TrialSpec");
      look(may.dotted, dotted, "core/records/setting_paths.h");
      look(may.compared, compared, "core/records/setting_paths.h");
    }
  }
  return all;
}

std::vector<std::string> found_elsewhere(const fs::path& root, const std::vector<std::string>& folders,
                                         const std::string& expression, const std::string& allowed) {
  const std::regex text(expression);
  std::vector<std::string> all;
  for (const auto& file : files(root, folders)) {
    if (file.starts_with(allowed)) continue;
    std::ifstream in(root / file);
    std::smatch found;
    int number = 0;
    for (std::string line; ++number, std::getline(in, line);)
      if (std::regex_search(line, found, text))
        all.push_back(fmt::format("{}:{}: found {}, allowed in {}", file, number, found.str(), allowed));
  }
  return all;
}

std::vector<std::string> long_files(const fs::path& root, std::size_t most) {
  std::vector<std::string> all;
  for (const auto& file : files(root, {"core", "db", "plugins", "tests", "tools"})) {
    std::ifstream in(root / file);
    std::size_t lines = 0;
    for (std::string line; std::getline(in, line);) ++lines;
    if (lines > most) all.push_back(fmt::format("{}: found {} lines, allowed {}", file, lines, most));
  }
  return all;
}

}  // namespace ablate
