// Completions of the shells, requested as the completion scripts request them.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "core/util/shell_word.h"
#include "tests/db/fixture.h"
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

using Words = std::set<std::string>;

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.insert(line);
  return lines;
}

/// Workplace with a study, a history, and plugins that an earlier scan found.
class Shell {
 public:
  Shell() {
    Store store(place.folder() / "ablate.db");
    put(store, "first grid", {trial("softmax", {}, 1)});
    put(store, "second", {trial("adamra", {"1/8"}, 1)});
    place.study("[task]\nplugin = \"image\"\n[attention]\nplugin = \"linear\"\n");
    place.run({"plugins"});
  }

  /// Returns bash's completions at the end of a line. bash also splits the line at `=` and `:`.
  Words bash(const std::vector<std::string>& words) {
    std::string line;
    for (const auto& word : words) line += " " + shell_word(word);
    return lines_of(place
                        .shell("eval \"$($ablate completion bash)\"; COMP_WORDS=($ablate" + line + "); COMP_CWORD=" +
                               std::to_string(words.size()) + "; _ablate; printf '%s\\n' \"${COMPREPLY[@]}\"")
                        .out);
  }

  Workplace place;
};

bool all_in(const Words& words, const Words& all) {
  return std::all_of(words.begin(), words.end(), [&](const auto& word) { return all.contains(word); });
}

}  // namespace

TEST_CASE("commands and options are completed only from their declaration") {
  Shell shell;
  const auto commands = shell.bash({""});
  CHECK(all_in({"run", "table", "watch", "help", "completion"}, commands));
  CHECK_FALSE(commands.contains("complete"));
  CHECK(shell.bash({"wat"}) == Words{"watch"});
  CHECK(shell.bash({"help", "wat"}) == Words{"watch"});
  for (const auto& command : commands) {
    INFO(command);
    const auto help = shell.place.run({"help", command}).out;
    const auto offered = shell.bash({command, "-"});
    const std::regex option(R"(\n  (?:-\w,)?(--[a-z0-9-]+))");
    int options = 0;
    for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at, ++options)
      CHECK(offered.contains(at->str(1)));
    CHECK(options > 0);
    CHECK(all_in({"--db", "--plugins"}, offered));
  }
  CHECK(shell.bash({"--db", "ablate.db", "wat"}) == Words{"watch"});
  CHECK(shell.bash({"completion", ""}) == Words{"bash", "fish", "zsh"});
  CHECK(shell.bash({"experiment", "ren"}) == Words{"rename"});
  CHECK(shell.bash({"db", ""}) == Words{"backup", "check", "compact"});
  CHECK(shell.bash({"attempts", "--format", ""}) == Words{"json", "text"});
  CHECK(shell.bash({"attempts", "--format", "=", "j"}) == Words{"json"});
  CHECK(shell.bash({"new", ""}) == Words{"attention", "compression", "task"});
}

TEST_CASE("names in the history are completed, quoted for a shell, from the database that is named") {
  Shell shell;
  CHECK(shell.bash({"table", ""}) == Words{"first\\ grid", "second"});
  CHECK(shell.bash({"experiment", "show", "s"}) == Words{"second"});
  CHECK(shell.bash({"new", "task", ""}).empty());
  CHECK(all_in({"attention", "seed", "train.learning_rate"}, shell.bash({"table", "second", "--rows", ""})));
  CHECK(shell.bash({"table", "second", "--rows", "seed,attention.r"}) == Words{"seed,attention.rates"});
  CHECK(shell.bash({"table", "--metric", "test/"}) == Words{"test/accuracy"});
  CHECK(shell.bash({"table", "--db", "none.db", ""}).empty());
  CHECK(shell.bash({"table", "--db", "=", "none.db", ""}).empty());
}

TEST_CASE("paths of --set are completed section by section, with values of the plugins in the study") {
  Shell shell;
  CHECK(shell.bash({"run", "study.toml", "--set", ""}) ==
        Words{"attention.", "experiment.", "model.", "seeds=", "task.", "train."});
  CHECK(all_in({"train.steps=", "train.stride="}, shell.bash({"run", "--set", "train.st"})));
  CHECK(shell.bash({"run", "--set", "train.schedule", "=", "one"}) == Words{"one-cycle"});
  CHECK(all_in({"linear", "softmax"}, shell.bash({"run", "--set", "attention.plugin", "="})));
  CHECK(shell.bash({"run", "--set", "attention.plugin", "=", "soft"}) == Words{"softmax"});
  CHECK(shell.bash({"run", "study.toml", "--set", "task.poo"}) == Words{"task.pool="});
  CHECK(shell.bash({"run", "study.toml", "--set", "task.max_dep"}).empty());  // a parameter of listops
  CHECK(shell.bash({"run", "--set", "task.max_dep"}) == Words{"task.max_depth="});
  CHECK(all_in({"linear", "softmax", "image", "listops"}, shell.bash({"plugins", ""})));
  CHECK(shell.bash({"audit", "im"}) == Words{"image"});
  CHECK(shell.bash({"audit", "image", "--set", "poo"}) == Words{"pool="});
}

TEST_CASE("names of files are completed for studies, --db and --plugins, each with its own kind of file") {
  Shell shell;
  std::filesystem::create_directory(shell.place.folder() / "sub");
  CHECK(shell.bash({"run", ""}) == Words{"sub", "study.toml"});
  CHECK(shell.bash({"table", "--db", "abl"}) == Words{"ablate.db"});
  CHECK(shell.bash({"table", "--db", "=", "abl"}) == Words{"ablate.db"});
  CHECK(shell.bash({"plugins", "--plugins", "s"}) == Words{"sub"});
}

TEST_CASE("completion loads no plugin, writes nothing, and never fails") {
  Shell shell;
  shell.place.set("XDG_CACHE_HOME", (shell.place.folder() / "cache").string());
  CHECK(shell.bash({"plugins", ""}).empty());
  CHECK_FALSE(std::filesystem::exists(shell.place.folder() / "cache"));
  std::ofstream(shell.place.folder() / "ablate.db") << "no database";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"table", ""}, {"none", "--no"}, {"--db"}, {"table", "--contrasts", "a", ""}, {"--=", ""}}) {
    auto asked = words;
    asked.insert(asked.begin(), {"complete", "--"});
    const auto ended = shell.place.run(asked);
    CHECK(ended.exit_code == 0);
    CHECK(ended.err.empty());
  }
}

TEST_CASE("the scripts of zsh and fish request the same completions if these shells are installed") {
  Shell shell;
  const auto has_shell = [&](const std::string& name) { return shell.place.shell("command -v " + name).exit_code == 0; };
  if (has_shell("fish")) {
    CHECK(says(shell.place
                   .shell("$ablate completion fish > ablate.fish; PATH=" + kBin +
                          ":$PATH fish --no-config -c 'source ablate.fish; complete -C \"ablate wat\"'")
                   .out,
               "watch\t"));
  }
  if (has_shell("zsh")) {
    const auto ended = shell.place.shell(
        "$ablate completion zsh > ablate.zsh; zsh -f -c 'compdef() { :; }; source ./ablate.zsh; "
        "_describe() { print -l \"${(@P)4}\"; }; words=('$ablate' wat); CURRENT=2; PREFIX=wat; _ablate'");
    CHECK(says(ended.out, "watch:Watch a running grid"));
    CHECK(ended.err.empty());
  }
}
