#include "tools/ablate/completion/complete.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/shared/sections.h"
#include "tools/ablate/offers.h"

namespace ablate {
namespace {

/// What may be set, with the few values that it takes, where they are few.
struct Settable {
  std::string path, about;
  std::vector<std::string> values;
};

std::vector<std::string> values_of(const ParameterInfo& parameter) {
  if (parameter.type == ParameterType::kBoolean) return {"true", "false"};
  return parameter.type == ParameterType::kText ? parameter.choices : std::vector<std::string>();
}

class Settables {
 public:
  Settables(const std::vector<PluginInfo>& plugins, const std::string& study) : plugins_(plugins), study_(study) {}

  void add(const std::string& path, const std::string& about, std::vector<std::string> values = {}) {
    if (known_.insert(path).second) all_.push_back({path, about, std::move(values)});
  }
  void add(const std::string& section, std::span<const ParameterInfo> parameters) {
    for (const auto& parameter : parameters) {
      const auto path = section.empty() ? parameter.name : section + "." + parameter.name;
      const auto kind = parameter.plugin_kind();
      if (!kind)
        add(path, parameter.help, values_of(parameter));
      else if (parameter.type == ParameterType::kPlugin && known_.insert(path).second)
        add_plugins(path, *kind);
    }
  }
  void add_plugins(const std::string& section, Kind kind) {
    std::vector<std::string> ids;
    bool any_named = false;
    for (const auto& plugin : plugins_)
      if (plugin.kind == kind) ids.push_back(plugin.id), any_named = any_named || names(plugin);
    add(section + ".plugin", "which " + std::string(to_text(kind)), ids);
    for (const auto& plugin : plugins_)
      if (plugin.kind == kind && (names(plugin) || !any_named)) add(section, plugin.parameters);
  }
  const std::vector<Settable>& all() const { return all_; }

 private:
  bool names(const PluginInfo& plugin) const { return study_.find('"' + plugin.id + '"') != std::string::npos; }

  const std::vector<PluginInfo>& plugins_;
  const std::string& study_;
  std::vector<Settable> all_;
  std::set<std::string> known_;
};

std::vector<CompletedWord> continued(const std::string& part, const std::vector<Settable>& all) {
  std::vector<CompletedWord> candidates;
  std::set<std::string> sections;
  const auto equals = part.find('=');
  for (const auto& one : all) {
    if (equals != std::string::npos) {
      if (one.path == part.substr(0, equals))
        for (const auto& value : one.values)
          if (auto word = one.path + "=" + value; word.starts_with(part)) candidates.push_back({word, ""});
    } else if (one.path.starts_with(part)) {
      const auto dot = one.path.find('.', part.size());
      if (dot == std::string::npos)
        candidates.push_back({one.path + "=", one.about});
      else if (const auto section = one.path.substr(0, dot + 1); sections.insert(section).second)
        candidates.push_back({section, ""});
    }
  }
  return candidates;
}

/// What goes on with a part of PATH=VALUE: the next section or key ("train.", "train.steps="), behind = a value that is one of
/// few.
/// @param plugins all that are known @param study its text: of a kind only the plugins count that it names in quotes, or all
/// where it names none
std::vector<CompletedWord> complete_study_path(const std::string& part, const std::vector<PluginInfo>& plugins,
                                               const std::string& study) {
  Settables settables(plugins, study);
  settables.add_plugins("task", Kind::kTask);
  settables.add_plugins("attention", Kind::kAttention);
  settables.add("model", model_parameters());
  settables.add("train", train_parameters());
  settables.add("seeds", "a number of seeds, or a list");
  settables.add("experiment.name", "the experiment that the trials belong to");
  return continued(part, settables.all());
}

/// NAME=VALUE of the plugins of these ids.
std::vector<CompletedWord> complete_parameter(const std::string& part, const std::vector<PluginInfo>& plugins,
                                              const std::vector<std::string>& ids) {
  Settables settables(plugins, "");
  for (const auto& plugin : plugins)
    if (std::find(ids.begin(), ids.end(), plugin.id) != ids.end()) settables.add("", plugin.parameters);
  return continued(part, settables.all());
}

/// A command line up to the word that is completed.
class LineSoFar {
 public:
  LineSoFar(CLI::App& app, const std::vector<std::string>& words, const NameSources& sources)
      : app_(app), sources_(sources), word_(words.empty() ? "" : words.back()) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) take(words[i]);
  }

  Completions completions() {
    if (option_ != nullptr) return values(*option_, "", word_);
    if (const auto equals = word_.find('='); !only_positionals_ && word_.starts_with("--") && equals != std::string::npos) {
      auto* option = find(word_.substr(0, equals));
      return option == nullptr ? Completions() : values(*option, word_.substr(0, equals + 1), word_.substr(equals + 1));
    }
    if (!only_positionals_ && word_.starts_with('-')) return options();
    if (command_ == nullptr) return commands();
    auto* positional = next_positional();
    return positional == nullptr ? Completions() : values(*positional, "", word_);
  }

 private:
  void take(const std::string& word) {
    if (option_ != nullptr) {
      give(*option_, word);
      if (--values_left_ <= 0) option_ = nullptr;
    } else if (word == "--") {
      only_positionals_ = true;
    } else if (!only_positionals_ && word.size() > 1 && word[0] == '-') {
      const auto equals = word.starts_with("--") ? word.find('=') : std::string::npos;
      auto* option = find(word.substr(0, equals));
      if (option == nullptr || option->get_items_expected_max() == 0) return;
      if (equals != std::string::npos) return give(*option, word.substr(equals + 1));
      option_ = option;
      values_left_ = std::max(1, option->get_type_size());
    } else if (command_ == nullptr) {
      for (auto* command : app_.get_subcommands({}))
        if (command->get_name() == word) command_ = command;
    } else {
      positionals_.push_back(word);
    }
  }

  void give(const CLI::Option& option, const std::string& value) {
    if (option.check_name("--db")) asked_.database = value;
    if (option.check_name("--plugins")) asked_.folders.push_back(value);
  }

  CLI::Option* find(const std::string& name) const {
    auto* option = command_ == nullptr ? nullptr : command_->get_option_no_throw(name);
    return option == nullptr ? app_.get_option_no_throw(name) : option;
  }

  CLI::Option* next_positional() const {
    auto left = positionals_.size();
    for (auto* option : command_->get_options()) {
      if (!option->get_positional()) continue;
      const auto takes = static_cast<std::size_t>(option->get_items_expected_max());
      if (left < takes) return option;
      left -= takes;
    }
    return nullptr;
  }

  /// Those that begin as the word does.
  Completions those(std::vector<CompletedWord> all, const std::string& before, const std::string& part) const {
    Completions found;
    for (auto& [word, about] : all)
      if (word.starts_with(part)) found.candidates.push_back({before + word, about});
    return found;
  }
  Completions those(const std::vector<std::string>& all, const std::string& before, const std::string& part) const {
    std::vector<CompletedWord> candidates;
    for (const auto& word : all) candidates.push_back({word, ""});
    return those(std::move(candidates), before, part);
  }

  Completions commands() const {
    std::vector<CompletedWord> all;
    for (const auto* command : app_.get_subcommands({})) all.push_back({command->get_name(), command->get_description()});
    return those(std::move(all), "", word_);
  }

  Completions options() const {
    std::vector<CompletedWord> all;
    for (auto* app : {command_, &app_}) {
      if (app == nullptr) continue;
      for (const auto* option : app->get_options()) {
        const auto& longs = option->get_lnames();
        for (const auto& name : longs) all.push_back({"--" + name, option->get_description()});
        if (longs.empty())
          for (const auto& name : option->get_snames()) all.push_back({"-" + name, option->get_description()});
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.word < b.word; });
    all.erase(std::unique(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.word == b.word; }), all.end());
    return those(std::move(all), "", word_);
  }

  std::vector<CompletedWord> plugins(std::optional<Kind> kind) const {
    std::vector<CompletedWord> all;
    for (const auto& plugin : sources_.plugins(asked_))
      if (!kind || plugin.kind == *kind) all.push_back({plugin.id, plugin.summary});
    return all;
  }

  std::string study() const {
    for (const auto& word : positionals_)
      if (word.ends_with(".toml")) return sources_.text(word);
    return "";
  }

  /// @param before what of the word is none of the value: "--db=" @param part of the value
  Completions values(CLI::Option& option, std::string before, std::string part) {
    if (option.get_delimiter() != '\0')
      if (const auto comma = part.rfind(option.get_delimiter()); comma != std::string::npos) {
        before += part.substr(0, comma + 1);
        part.erase(0, comma + 1);
      }
    const auto words = offered(option);
    if (words.size() == 1 && std::isupper(static_cast<unsigned char>(words[0][0])) != 0) return named(words[0], before, part);
    if (!words.empty()) return those(words, before, part);
    if (option.check_name("--metric")) return those(sources_.metrics(asked_), before, part);
    return named(option.get_positional() ? option.get_name(true) : option.get_type_name(), before, part);
  }

  /// What a value is called says what it is, in the help as well.
  Completions named(const std::string& name, const std::string& before, const std::string& part) {
    if (name == "FILE" || name == "OTHER") return {{}, "file"};
    if (name == "DIR") return {{}, "folder"};
    if (name == "STUDY") return {{}, "toml"};
    if (name == "EXPERIMENT") return those(sources_.experiments(asked_), before, part);
    if (name == "COMMAND") return commands();
    if (name == "KIND") {
      std::vector<std::string> kinds;
      for (const auto& kind : kPluginKinds) kinds.emplace_back(kind.name);
      return those(kinds, before, part);
    }
    if (name == "ID" || name == "PLUGIN") return those(plugins(std::nullopt), before, part);
    if (name == "TASK") return those(plugins(Kind::kTask), before, part);
    if (name == "PATH") return those(sources_.paths(asked_), before, part);
    if (name == "NAME=VALUE") return those(complete_parameter(part, sources_.plugins(asked_), positionals_), before, part);
    const bool sets = command_ != nullptr && command_->get_option_no_throw("--set") != nullptr;
    if (name.starts_with("PATH=") && sets)
      return those(complete_study_path(part, sources_.plugins(asked_), study()), before, part);
    if (name.starts_with("PATH=") || name == "CONDITION") {
      std::vector<std::string> paths;
      for (const auto& path : sources_.paths(asked_)) paths.push_back(path + "=");
      return those(paths, before, part);
    }
    return {};
  }

  CLI::App& app_;
  const NameSources& sources_;
  std::string word_;
  CLI::App* command_ = nullptr;
  CLI::Option* option_ = nullptr;  ///< whose value comes next
  int values_left_ = 0;
  bool only_positionals_ = false;  ///< behind "--"
  std::vector<std::string> positionals_;
  NameSources::Asked asked_;
};

}  // namespace

Completions complete(CLI::App& app, const std::vector<std::string>& words, const NameSources& sources) {
  return LineSoFar(app, words, sources).completions();
}

}  // namespace ablate
