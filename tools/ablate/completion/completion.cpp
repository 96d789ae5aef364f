#include "tools/ablate/completion/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <span>

#include "core/records/setting_paths.h"
#include "core/registry/scan.h"
#include "core/shared/sections.h"
#include "core/util/nearest.h"
#include "db/history/reader.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/offers.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBash = R"BASH(# Completion of ablate for bash: eval "$(ablate completion bash)" in ~/.bashrc
_ablate() {
  local program=${COMP_WORDS[0]/#\~\//$HOME/} part last="" i
  local -a words=()
  # bash splits words at = and :, which ablate's words contain.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    part=${COMP_WORDS[i]}
    if ((${#words[@]} > 0)) && [[ $part =~ ^[=:]+$ || (-n $part && $last =~ ^[=:]+$) ]]; then
      words[${#words[@]} - 1]+=$part
    else
      words+=("$part")
    fi
    last=$part
  done
  local word=${words[${#words[@]} - 1]} kept line
  [[ $part =~ ^[=:]+$ ]] && part=""
  kept=${word%"$part"} # part of the word that bash does not replace
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$part") ;;
      :folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$part") ;;
      :toml) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$part"; compgen -f -X '!*.toml' -- "$part") ;;
      *)
        line=${line%%$'\t'*}
        [[ $line == *[=.] ]] && compopt -o nospace 2>/dev/null
        line=${line#"$kept"}
        [[ $line == *[$' \t\'"\\$&|;<>()*?!`']* ]] && printf -v line %q "$line"
        COMPREPLY+=("$line")
        ;;
    esac
  done < <("$program" complete -- "${words[@]}" 2>/dev/null)
}
complete -F _ablate ablate
)BASH";

constexpr const char* kZsh = R"ZSH(#compdef ablate
# Completion of ablate for zsh: eval "$(ablate completion zsh)" in ~/.zshrc, after compinit
_ablate() {
  local line word about
  local -a whole open
  for line in "${(@f)$("${words[1]/#\~\//$HOME/}" complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :file) compset -P '--*='; _files ;;
      :folder) compset -P '--*='; _files -/ ;;
      :toml) _files -g '*.toml' ;;
      *)
        word=${line%%$'\t'*} about=${line#*$'\t'}
        if [[ $word == *[=.] ]]; then open+=("${word//:/\\:}:$about"); else whole+=("${word//:/\\:}:$about"); fi
        ;;
    esac
  done
  (($#open)) && _describe -t values value open -S ''
  (($#whole)) && _describe -t values value whole
  return 0
}
if [[ ${funcstack[1]} == _ablate ]]; then _ablate "$@"; else compdef _ablate ablate; fi
)ZSH";

constexpr const char* kFish =
    R"FISH(# Completion of ablate for fish: ablate completion fish > ~/.config/fish/completions/ablate.fish
function __ablate_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -e words[1]
    for line in ($program complete -- $words "$current" 2>/dev/null)
        switch $line
            case ':file' ':toml'
                __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current")
            case ':folder'
                __fish_complete_directories (string replace -r '^--[^=]*=' '' -- "$current")
            case '*'
                echo $line
        end
    end
end
complete -c ablate -f -a '(__ablate_complete)'
)FISH";

const std::map<std::string, const char*> kScripts = {{"bash", kBash}, {"fish", kFish}, {"zsh", kZsh}};

/// Possible word, and its description. A word that ends with = or . continues; ":file", ":folder" and ":toml" represent file
/// names.
using Completed = std::pair<std::string, std::string>;
using Candidates = std::vector<Completed>;

Candidates without_help(const std::vector<std::string>& words, const std::string& end = "") {
  Candidates all;
  for (const auto& word : words) all.emplace_back(word + end, "");
  return all;
}

/// Paths that may be set, in order of addition, each once.
class Settables {
 public:
  /// @param study text of the study. If the text quotes ids of a kind, only their parameters are offered, else all.
  Settables(const std::vector<PluginInfo>& plugins, const std::string& study) : plugins_(plugins), study_(study) {}

  void add(const std::string& path, const std::string& about, std::vector<std::string> values = {}) {
    if (values_.emplace(path, std::move(values)).second) paths_.emplace_back(path, about);
  }
  /// @param section prefix of each path, "train."
  void add(const std::string& section, std::span<const ParameterInfo> parameters) {
    for (const auto& parameter : parameters) {
      const auto path = section + parameter.name;
      const auto kind = parameter.plugin_kind();
      if (!kind)
        add(path, parameter.help,
            parameter.type == ParameterType::kBoolean ? std::vector<std::string>{"true", "false"}
            : parameter.type == ParameterType::kText  ? parameter.choices
                                                      : std::vector<std::string>());
      else if (parameter.type == ParameterType::kPlugin && !values_.contains(path + ".plugin"))
        add_plugins(path + ".", *kind);
    }
  }
  void add_plugins(const std::string& section, Kind kind) {
    std::vector<const PluginInfo*> all, named;
    std::vector<std::string> ids;
    for (const auto& plugin : plugins_) {
      if (plugin.kind != kind) continue;
      all.push_back(&plugin), ids.push_back(plugin.id);
      if (study_.find('"' + plugin.id + '"') != std::string::npos) named.push_back(&plugin);
    }
    add(section + "plugin", "which " + std::string(to_text(kind)), ids);
    for (const auto* plugin : named.empty() ? all : named) add(section, plugin->parameters);
  }

  /// Returns continuations of a part of PATH=VALUE: the next sections or keys; after "=", the parameter's listed values.
  Candidates next(const std::string& part) const {
    Candidates all;
    if (const auto equals = part.find('='); equals != std::string::npos) {
      const auto path = part.substr(0, equals);
      for (const auto& value : values_.contains(path) ? values_.at(path) : std::vector<std::string>())
        all.emplace_back(path + "=" + value, "");
      return all;
    }
    for (const auto& [path, about] : paths_) {
      const auto dot = path.starts_with(part) ? path.find('.', part.size()) : std::string::npos;
      const Completed found = dot == std::string::npos ? Completed(path + "=", about) : Completed(path.substr(0, dot + 1), "");
      if (std::find(all.begin(), all.end(), found) == all.end()) all.push_back(found);
    }
    return all;
  }

 private:
  const std::vector<PluginInfo>& plugins_;
  const std::string& study_;
  Candidates paths_;
  std::map<std::string, std::vector<std::string>> values_;
};

/// A command line up to the word that is completed.
class LineSoFar {
 public:
  /// @param words after the program's name; the last is to be completed
  LineSoFar(CLI::App& app, const std::vector<std::string>& words) : app_(app), word_(words.back()) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) take(words[i]);
  }

  /// Returns possible completions of the word. Rethrows errors of the history.
  Candidates candidates() {
    std::string before;  // part of the word before the value: "--db="
    if (option_ == nullptr && !only_positionals_ && word_.starts_with('-')) {
      const auto equals = word_.starts_with("--") ? word_.find('=') : std::string::npos;
      if (equals == std::string::npos) return those(options(), "");
      before = word_.substr(0, equals + 1);
      option_ = find(word_.substr(0, equals));
    } else if (option_ == nullptr) {
      if (command_ == nullptr) return those(commands(), "");
      option_ = next_positional();
    }
    if (option_ == nullptr) return {};
    if (const auto delimiter = option_->get_delimiter(); delimiter != '\0')
      if (const auto comma = word_.rfind(delimiter); comma != std::string::npos && comma >= before.size())
        before = word_.substr(0, comma + 1);
    return those(values(word_.substr(before.size())), before);
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
    if (option.check_name("--plugins")) asked_.plugins.push_back(value);
  }

  CLI::Option* find(const std::string& name) const {
    auto* option = command_ == nullptr ? nullptr : command_->get_option_no_throw(name);
    return option == nullptr ? app_.get_option_no_throw(name) : option;
  }

  CLI::Option* next_positional() const {
    auto left = positionals_.size();
    for (auto* option : command_->get_options([](const CLI::Option* each) { return each->get_positional(); })) {
      const auto takes = static_cast<std::size_t>(option->get_items_expected_max());
      if (left < takes) return option;
      left -= takes;
    }
    return nullptr;
  }

  /// Prepends `before` to each candidate, then drops candidates that do not begin with the word. Keeps ":file" and the like.
  Candidates those(Candidates all, const std::string& before) const {
    for (auto& [word, about] : all)
      if (!word.starts_with(':')) word.insert(0, before);
    std::erase_if(all, [&](const auto& one) { return !one.first.starts_with(':') && !one.first.starts_with(word_); });
    return all;
  }

  Candidates commands() const {
    Candidates all;
    for (const auto* command : app_.get_subcommands({})) all.emplace_back(command->get_name(), command->get_description());
    return all;
  }

  Candidates options() const {
    std::map<std::string, std::string> all;  // options of the command win over options of ablate
    for (auto* app : {command_, &app_})
      for (const auto* option : app == nullptr ? std::vector<CLI::Option*>() : app->get_options()) {
        for (const auto& name : option->get_lnames()) all.emplace("--" + name, option->get_description());
        if (option->get_lnames().empty())
          for (const auto& name : option->get_snames()) all.emplace("-" + name, option->get_description());
      }
    return {all.begin(), all.end()};
  }

  db::Reader history() const { return db::Reader(asked_.database_file()); }

  /// @param end text after each path
  Candidates paths(const std::string& end) const {
    Candidates all;
    for (const auto& [path, id] : history().paths()) all.emplace_back(path + end, "");
    return all;
  }

  /// Returns the plugins that an earlier scan found.
  std::vector<PluginInfo> plugins() const {
    const auto cache = cache_folder();
    if (cache.empty()) return {};
    return remembered(plugin_folders({asked_.plugins.begin(), asked_.plugins.end()}), ABLATE_TORCH_VERSION,
                      cache / "plugins.json");
  }
  Candidates ids(bool only_tasks) const {
    Candidates all;
    for (const auto& plugin : plugins())
      if (!only_tasks || plugin.kind == Kind::kTask) all.emplace_back(plugin.id, plugin.summary);
    return all;
  }

  /// Returns the text of the study on the command line; "" if it cannot be read.
  std::string study() const {
    constexpr std::uintmax_t kMost = 1 << 20;  ///< bytes of a study
    std::error_code none;
    for (const auto& word : positionals_) {
      if (!word.ends_with(".toml")) continue;
      if (!fs::is_regular_file(word, none) || fs::file_size(word, none) > kMost) break;
      std::ifstream in(word, std::ios::binary);
      return {std::istreambuf_iterator<char>(in), {}};
    }
    return "";
  }

  Candidates study_paths(const std::string& part) const {
    const auto all = plugins();
    const auto text = study();
    Settables settables(all, text);
    settables.add_plugins(setting::in(section::kTask, ""), Kind::kTask);
    settables.add_plugins(setting::in(section::kAttention, ""), Kind::kAttention);
    settables.add(setting::in(section::kModel, ""), model_parameters());
    settables.add(setting::in(section::kTrain, ""), train_parameters());
    settables.add("seeds", "a number of seeds, or a list");
    settables.add("experiment.name", "the experiment that the trials belong to");
    return settables.next(part);
  }

  /// Returns NAME=VALUE for parameters of the plugins on the command line.
  Candidates parameters(const std::string& part) const {
    const auto all = plugins();
    Settables settables(all, "");
    for (const auto& plugin : all)
      if (std::find(positionals_.begin(), positionals_.end(), plugin.id) != positionals_.end())
        settables.add("", plugin.parameters);
    return settables.next(part);
  }

  /// Returns candidates for the option's value. The value's name in the help decides their kind.
  /// @param part the value so far
  Candidates values(const std::string& part) const {
    const auto words = offered(*option_);
    const bool says_name = words.size() == 1 && std::isupper(static_cast<unsigned char>(words[0][0])) != 0;
    if (!words.empty() && !says_name) return without_help(words);
    if (words.empty() && option_->check_name("--metric")) {
      Candidates all;
      for (const auto& metric : history().metrics()) all.emplace_back(metric.name, "");
      return all;
    }
    const auto name = says_name ? words[0] : option_->get_positional() ? option_->get_name(true) : option_->get_type_name();
    if (name == "FILE" || name == "OTHER") return {{":file", ""}};
    if (name == "DIR") return {{":folder", ""}};
    if (name == "STUDY") return {{":toml", ""}};
    if (name == "EXPERIMENT") return without_help(history().experiments());
    if (name == "COMMAND") return commands();
    if (name == "ID" || name == "PLUGIN" || name == "TASK") return ids(name == "TASK");
    if (name == "PATH") return paths("");
    if (name == "NAME=VALUE") return parameters(part);
    if (name.starts_with("PATH=") && command_ != nullptr && command_->get_option_no_throw("--set") != nullptr)
      return study_paths(part);
    if (name.starts_with("PATH=") || name == "CONDITION") return paths("=");
    Candidates kinds;
    for (const auto& kind : kPluginKinds)
      if (name == "KIND") kinds.emplace_back(kind.name, "");
    return kinds;
  }

  CLI::App& app_;
  std::string word_;
  CLI::App* command_ = nullptr;
  CLI::Option* option_ = nullptr;  ///< option whose value comes next
  int values_left_ = 0;
  bool only_positionals_ = false;  ///< after "--"
  std::vector<std::string> positionals_;
  Options asked_;
};

std::vector<std::string> shells() {
  std::vector<std::string> names;
  for (const auto& [shell, text] : kScripts) names.push_back(shell);
  return names;
}

std::string refuse_shell(const std::string& text) {
  return kScripts.contains(text) ? "" : fmt::format("found {}, expected bash, zsh or fish{}", text, hint(text, shells()));
}

}  // namespace

bool is_question(const std::vector<std::string>& words) {
  return words.size() > 2 && words[0] == "complete" && words[1] == "--";
}

void answer_question(CLI::App& app, const std::vector<std::string>& words) {
  try {
    for (const auto& [word, about] : LineSoFar(app, {words.begin() + 2, words.end()}).candidates())
      print("{}{}\n", db::one_row(word), word.starts_with(':') ? "" : "\t" + db::first_line(about));
  } catch (const std::exception&) {  // no readable history: only the shell reads this answer, so errors are silent
  }
}

void add_completion(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("completion", "Print a script that completes ablate's words in a shell")->group("Help");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish; the first lines of the script say where to put it")
      ->required()
      ->check(CLI::Validator(refuse_shell, "", ""))
      ->check(offers(shells()))
      ->type_name("");
  command->footer(
      "The script completes commands, options, plugins that a command has found before, paths of --set, and names of the "
      "history.\nExample:\n  ablate completion bash > ~/.local/share/bash-completion/completions/ablate");
  command->callback([shell, &exit_code] {
    print("{}", kScripts.at(*shell));
    exit_code = 0;
  });
}

}  // namespace ablate
