#include "tools/ablate/completion/scripts.h"

namespace ablate {
namespace {

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

}  // namespace

const std::vector<CompletionScript>& completion_scripts() {
  static const std::vector<CompletionScript> all = {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};
  return all;
}

}  // namespace ablate
