#include "tools/ablate/completion/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "core/registry/scan.h"
#include "core/util/nearest.h"
#include "db/history/reader.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/completion/complete.h"
#include "tools/ablate/offers.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

struct CompletionScript {
  std::string shell;
  std::string text;
};

constexpr const char* kBash = R"BASH(# Completion of ablate for bash: eval "$(ablate completion bash)" in ~/.bashrc
_ablate() {
  local program=${COMP_WORDS[0]/#\~\//$HOME/} part last="" i
  local -a words=()
  # bash splits words at = and :, which ablate's have inside.
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
  kept=${word%"$part"} # what of the word bash does not replace
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
# Completion of ablate for zsh: eval "$(ablate completion zsh)" in ~/.zshrc, behind compinit
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

const std::vector<CompletionScript>& completion_scripts() {
  static const std::vector<CompletionScript> all = {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};
  return all;
}

namespace fs = std::filesystem;

db::Reader reader_of(const NameSources::Asked& asked) {
  Options options;
  options.database = asked.database;
  return db::Reader(options.database_file());
}

std::vector<std::string> paths_of(const NameSources::Asked& asked) {
  std::vector<std::string> names;
  for (const auto& [path, id] : reader_of(asked).paths()) names.push_back(path);
  return names;
}

std::vector<std::string> metrics_of(const NameSources::Asked& asked) {
  std::vector<std::string> names;
  for (const auto& metric : reader_of(asked).metrics()) names.push_back(metric.name);
  return names;
}

std::vector<PluginInfo> plugins_of(const NameSources::Asked& asked) {
  const auto cache = cache_folder();
  if (cache.empty()) return {};
  return remembered(plugin_folders({asked.folders.begin(), asked.folders.end()}), ABLATE_TORCH_VERSION, cache / "plugins.json");
}

std::string text_of(const std::string& file) {
  constexpr std::uintmax_t kMost = 1 << 20;  ///< bytes of a study
  std::error_code none;
  if (!fs::is_regular_file(file, none) || fs::file_size(file, none) > kMost) return "";
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> shells() {
  std::vector<std::string> names;
  for (const auto& script : completion_scripts()) names.push_back(script.shell);
  return names;
}

std::string refuse_shell(const std::string& text) {
  const auto names = shells();
  if (std::find(names.begin(), names.end(), text) != names.end()) return "";
  return fmt::format("found {}, expected bash, zsh or fish{}", text, hint(text, names));
}

}  // namespace

bool is_question(const std::vector<std::string>& words) {
  return words.size() > 2 && words[0] == "complete" && words[1] == "--";
}

void answer_question(CLI::App& app, const std::vector<std::string>& words) {
  const NameSources sources{.experiments = [](const auto& asked) { return reader_of(asked).experiments(); },
                            .metrics = metrics_of,
                            .paths = paths_of,
                            .plugins = plugins_of,
                            .text = text_of};
  try {
    const auto found = complete(app, {words.begin() + 2, words.end()}, sources);
    for (const auto& [word, about] : found.candidates) print("{}\t{}\n", db::one_row(word), db::first_line(about));
    if (!found.files.empty()) print(":{}\n", found.files);
  } catch (const std::exception&) {  // no history, or none that can be read: nobody has asked for an answer but the shell
  }
}

void add_completion(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("completion", "Print a script that completes ablate's words in a shell")->group("Help");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish; where it goes stands in its first lines")
      ->required()
      ->check(CLI::Validator(refuse_shell, "", ""))
      ->check(offers(shells()))
      ->type_name("");
  command->footer(
      "The script completes commands, options, plugins that a command has found before, paths of --set, and names of the "
      "history.\nExample:\n  ablate completion bash > ~/.local/share/bash-completion/completions/ablate");
  command->callback([shell, &exit_code] {
    for (const auto& script : completion_scripts())
      if (script.shell == *shell) print("{}", script.text);
    exit_code = 0;
  });
}

}  // namespace ablate
