// Commands that run no trial.
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/end-to-end/ablate.h"
#include "tests/support/skip.h"

using nlohmann::json;

TEST_CASE("the command line never links torch", "[ldd]") {
  const auto ended = Process({"ldd", kBin + "ablate"}).wait();
  REQUIRE(ended.exit_code == 0);
  CHECK_FALSE(says(ended.out, "libtorch"));
  CHECK_FALSE(says(ended.out, "libc10"));
  CHECK_FALSE(says(ended.out, "libcairo"));
  CHECK(says(Process({"ldd", kBin + "ablate-worker"}).wait().out, "libtorch_cpu"));
}

TEST_CASE("ablate plot runs ablate-plot from ablate's folder; if ablate-plot is missing, the error names its package") {
  Workplace place;
  const auto wrong = place.run({"plot", "curve", "--out", "a.svg"});
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err == "ablate: no kind of figure \"curve\" (did you mean curves?)\n");
  if (std::filesystem::exists(kBin + "ablate-plot")) {
    const auto drawn = place.run({"plot", "curves", "--out", "a.svg"});
    CHECK(drawn.exit_code == 2);
    CHECK(says(drawn.err, "ablate.db"));  // ablate-plot ran, and reports that no history exists
  }
  const auto alone = place.shell("cp $ablate . && ./ablate plot curves --out a.svg");
  CHECK(alone.exit_code == 2);
  CHECK(says(alone.err, "install libcairo2-dev"));
}

TEST_CASE("docs/database.md: each step from a finished grid to the paper is one command, and all take less than a minute") {
  if (!std::filesystem::exists(kBin + "ablate-plot")) return skip_without_package("libcairo2-dev");
  const std::string root = ABLATE_SOURCE_DIR;
  const auto page = read_text(root + "/docs/database.md");
  const auto from = page.find("## From a finished grid to the paper");
  REQUIRE(from != std::string::npos);
  const auto section = page.substr(from, page.find("\n## ", from) - from);
  Workplace place;
  REQUIRE(place.run({"import", root + "/experiments/results/quickstart.csv"}).exit_code == 0);
  int lines = 0;
  static const std::regex command(R"(\| `ablate ([^`]+)` \|)");
  for (std::sregex_iterator at(section.begin(), section.end(), command), end; at != end; ++at, ++lines) {
    const auto ended = place.shell("$ablate " + at->str(1));
    INFO(at->str(1) << ": " << ended.err);
    CHECK(ended.exit_code == 0);
  }
  CHECK(lines == 4);
  const auto made = [&](const char* name) { return read_text((place.folder() / name).string()); };
  CHECK(says(made("t.tex"), "\\begin{tabular}"));
  CHECK(made("f.pdf").starts_with("%PDF"));
  CHECK(says(made("r.html"), "<html"));

  // With enough seeds for a significance test, the table has stars.
  std::string trials = "experiment,attention,seed,test/accuracy\n";
  for (int seed = 1; seed <= 8; ++seed)
    trials += "many,softmax," + std::to_string(seed) + ",6" + std::to_string(seed % 3) + "\nmany,linear," +
              std::to_string(seed) + ",5" + std::to_string(seed % 4) + "\n";
  place.folder().write("many.csv", trials);
  REQUIRE(place.run({"import", "many.csv"}).exit_code == 0);
  REQUIRE(place.run({"table", "many", "--against", "best", "--format", "latex", "--out", "many.tex"}).exit_code == 0);
  CHECK(says(made("many.tex"), "$\\pm$ 0.8} *"));
  CHECK_FALSE(says(made("t.tex"), "} *"));
}

TEST_CASE("help groups the commands, and every command's help has an example") {
  Workplace place;
  const auto all = place.run({"--help"});
  CHECK(all.exit_code == 0);
  for (const char* group : {"Run ablations", "Ask the run history", "Look at plugins"}) CHECK(says(all.out, group));
  for (const char* command : {"run", "plugins", "table", "verify", "plot", "attempts", "show", "query", "export", "import"}) {
    INFO(command);
    CHECK(says(all.out, command));
    const auto one = place.run({command, "--help"});
    CHECK(one.exit_code == 0);
    CHECK(says(one.out, "Example:\n  ablate " + std::string(command)));
  }
}

TEST_CASE("a kind of plugins is reported as a kind, and a flag accepts no value") {
  Workplace place;
  const auto kind = place.run({"plugins", "attention"});
  CHECK(kind.exit_code == 2);
  CHECK(kind.err == "ablate: attention is a kind of plugins: `ablate plugins --kind attention` lists them\n");
  for (const char* flag : {"--dry-run=false", "--again=no"}) {
    const auto refused = place.run({"run", "study.toml", flag});
    CHECK(refused.exit_code == 2);
    CHECK(says(refused.err, "disallowed flag override"));
  }
}

TEST_CASE("the commands in the headers of experiments/ are valid, and each runs its own study") {
  Workplace place;
  const std::filesystem::path source = ABLATE_SOURCE_DIR;
  std::map<std::string, std::string> helps;
  int commands = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source / "experiments")) {
    if (entry.path().extension() != ".toml") continue;
    const auto text = read_text(entry.path());
    const auto whole = std::regex_replace(text, std::regex(R"( \\\n# +)"), " ");  // a continued line
    const std::regex command(R"((?:^|\n)# +ablate (run|table) (\S+)([^\n]*))");
    for (std::sregex_iterator at(whole.begin(), whole.end(), command), end; at != end; ++at, ++commands) {
      INFO(entry.path() << ":" << at->str());
      const auto kind = at->str(1), of = at->str(2);
      CHECK((kind == "run" ? source / of == entry.path() : says(text, "\nname = \"" + of + "\"\n")));
      if (!helps.contains(kind)) helps[kind] = place.run({kind, "--help"}).out;
      std::istringstream words(at->str(3));
      for (std::string word; words >> word;)
        if (word.starts_with('-')) CHECK(std::regex_search(helps[kind], std::regex("[ ,]" + word + "[ ,\n]")));
    }
  }
  CHECK(commands > 50);
}

TEST_CASE("a link to itself is reported by its name, with the exit code for the kind of file") {
  Workplace place;
  const auto link = [&](const std::string& name) {
    std::filesystem::create_symlink(std::filesystem::path(name).filename(), place.folder() / name);
    return (place.folder() / name).string();
  };
  const auto loop = link("loop"), library = link("loop.so");
  const std::string why = "Too many levels of symbolic links";
  const auto check_error = [&](const std::vector<std::string>& arguments, int exit_code, const std::string& what) {
    const auto ended = place.run(arguments);
    INFO(ended.out << ended.err << "expected: " << what);
    CHECK(ended.exit_code == exit_code);
    CHECK(says(ended.err, what));
  };
  check_error({"--plugins", loop, "plugins"}, 2, "--plugins " + loop + ": " + why + "; expected a folder");
  check_error({"check", library}, 3, library + " cannot be loaded: " + why);
  check_error({"run", loop}, 2, loop + ": cannot be read: " + why);
  check_error({"new", "task", "mine", "--in", loop}, 2, "--in " + loop + ": no such folder");
  const auto study = "[task]\nplugin = \"image\"\ndata = \"" + loop + "\"\n[attention]\nplugin = \"linear\"\n";
  check_error({"run", place.study(study).string()}, 2, "looked for " + loop + " (" + why + ")");
  place.set("ABLATE_PLUGIN_PATH", loop);
  check_error({"plugins"}, 0, "warning: ABLATE_PLUGIN_PATH names " + loop + ", which is no folder");
}

TEST_CASE("plugins are listed by kind, and the second time from the cache") {
  Workplace place;
  const auto listed = place.run({"plugins"});
  REQUIRE(listed.exit_code == 0);
  for (const char* id : {"softmax", "linear", "compressed", "adamra", "segment-mean", "clustering", "rbf", "random-features",
                         "listops", "image"})
    CHECK(says(listed.out, id));
  // Without a worker, only the cache can answer.
  place.set("ABLATE_WORKER", "/nonexistent");
  const auto again = place.run({"plugins"});
  CHECK(again.exit_code == 0);
  CHECK(again.out == listed.out);
}

TEST_CASE("`ablate plugins ID` shows parameters and promises, and JSON has the same") {
  Workplace place;
  const auto shown = place.run({"plugins", "adamra"});
  REQUIRE(shown.exit_code == 0);
  for (const char* part : {"rates", "subheads", "feature_map", "routing", "router_gradient", "default", "arXiv", "key padding"})
    CHECK(says(shown.out, part));
  const auto one = json::parse(place.run({"plugins", "adamra", "--format", "json"}).out);
  CHECK(one.at("id") == "adamra");
  CHECK(one.at("parameters").size() >= 5);
  const auto all = json::parse(place.run({"plugins", "--format", "json"}).out);
  CHECK(all.size() >= 10);
}

TEST_CASE("plugins are chosen by kind and by their promises") {
  Workplace place;
  const auto ids = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "plugins");
    arguments.insert(arguments.end(), {"--format", "json"});
    std::set<std::string> all;
    for (const auto& one : json::parse(place.run(arguments).out)) all.insert(one.at("id"));
    return all;
  };
  const auto causal = ids({"--kind", "attention", "--causal"});
  CHECK((causal.contains("softmax") && causal.contains("linear") && !causal.contains("nystromformer")));
  const auto both = ids({"--causal", "--recurrent"});
  CHECK((both.contains("linear") && !both.contains("softmax")));
  CHECK((ids({"--kind", "task"}).contains("listops") && !ids({"--kind", "task"}).contains("softmax")));
  CHECK((ids({"--causal-reads"}).contains("segment-mean") && !ids({"--causal-reads"}).contains("rbf")));
  CHECK(place.run({"plugins", "--kind", "atention"}).exit_code == 2);
  CHECK(place.run({"plugins", "adamra", "--causal"}).exit_code == 2);
  const auto none = place.run({"plugins", "--kind", "task", "--causal"}).out;
  CHECK(says(none, "libraries found has this kind and these promises"));
  CHECK_FALSE(says(none, "No plugin library"));
  // The description of a plugin names the section of a study for its parameters.
  CHECK(says(place.run({"plugins", "rbf"}).out, "Parameters, in [attention.compression] of a study:"));
  CHECK(says(place.run({"plugins", "softmax"}).out, "Parameters, in [attention] of a study:"));
}

TEST_CASE("docs/methods.md repeats the plugins' own descriptions") {
  Workplace place;
  // Regenerate with: ablate plugins --format markdown > docs/methods.md
  CHECK(place.run({"plugins", "--format", "markdown"}).out == read_text(std::string(ABLATE_SOURCE_DIR) + "/docs/methods.md"));
}

TEST_CASE("an unknown plugin id exits with 2 and names the nearest id") {
  Workplace place;
  const auto ended = place.run({"plugins", "adarma"});
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, "did you mean adamra?"));
  CHECK(says(place.run({"plugins", "modle"}).err, "did you mean model?"));
}

TEST_CASE("usage errors exit with 2") {
  Workplace place;
  CHECK(place.run({"tabel"}).exit_code == 2);
  CHECK(place.run({"run"}).exit_code == 2);
  CHECK(place.run({"run", "no-such-study.toml"}).exit_code == 2);
  CHECK(place.run({"plugins", "--plugins", "/no/such/folder"}).exit_code == 2);
  const auto table = place.run({"table"});
  CHECK(table.exit_code == 2);
  CHECK(says(table.err, "ablate.db"));
}

TEST_CASE("a dry run prints the trials and writes nothing") {
  Workplace place;
  const auto ended = place.run(
      {"run", place.study(kTiny + "[grid]\nseeds = 2\nattention.plugin = [\"softmax\", \"linear\"]\n").string(), "--dry-run"});
  REQUIRE(ended.exit_code == 0);
  CHECK(says(ended.out, "4 trials"));
  CHECK(says(ended.out, "attention=softmax"));
  CHECK_FALSE(place.has_database());
}

TEST_CASE("all errors of a study are reported together, with their places, and nothing is written") {
  Workplace place;
  const auto ended = place.run({"run", place
                                           .study(R"([task]
plugin = "lisstops"
[model]
layerz = 2
d_model = "wide"
[attention]
plugin = "softmax"
heads = 1000
)")
                                           .string()});
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, "study.toml:2:"));
  CHECK(says(ended.err, "did you mean listops?"));
  CHECK(says(ended.err, "study.toml:4:"));
  CHECK(says(ended.err, "did you mean model.layers?") | says(ended.err, "did you mean layers?"));
  CHECK(says(ended.err, "study.toml:5:"));
  CHECK(says(ended.err, "study.toml:8:"));
  CHECK_FALSE(place.has_database());
}

TEST_CASE("errors that only the data reveal are reported before anything is written") {
  Workplace place;
  auto ended = place.run(
      {"run",
       place
           .study(kTiny +
                  "[attention]\nplugin = \"adamra\"\ncompression.plugin = \"segment-mean\"\nrates = [\"1/2\", \"1/100\"]\n")
           .string()});
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, "study.toml:"));
  CHECK(says(ended.err, "1/100"));
  ended = place.run(
      {"run",
       place.study("[task]\nplugin = \"image\"\ndata = \"/no/such/folder\"\n[attention]\nplugin = \"softmax\"\n").string()});
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, "/no/such/folder"));
  CHECK_FALSE(place.has_database());
}
