// `ablate plot` with a user's arguments, drawn in this process.
#include <cstdlib>

#include "tests/db/commands.h"
#include "tools/plot/draw.h"

using namespace ablate;
using namespace ablate::db;

namespace {

void add_drawn(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  add_plot(app, [database, &exit_code](const PlotArguments& options) {
    plot(options, database);
    exit_code = 0;
  });
}

/// The test's own cache, in which the program records the files that it wrote.
struct Plots {
  Plots() {
    setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
    run.add = add_drawn;
  }
  ~Plots() { unsetenv("XDG_CACHE_HOME"); }
  std::string operator()(const std::string& words) { return run("plot " + words); }
  std::string out(const std::string& name) const { return " --out " + (folder / name).string(); }

  Folder folder;
  Commands run;
};

}  // namespace

TEST_CASE("the file's extension selects the format") {
  Plots plot;
  for (const auto& [name, begin] : {std::pair("a.svg", "<?xml"), std::pair("a.pdf", "%PDF"), std::pair("a.PNG", "\x89PNG")}) {
    INFO(name);
    CHECK(plot("curves quickstart" + plot.out(name)).empty());
    CHECK(plot.run.exit_code == 0);
    CHECK(content(plot.folder / name).starts_with(begin));
    CHECK(has(plot.run.errors, "wrote "));
    CHECK(has(plot.run.errors, "note: no band, only one trial: softmax"));
    CHECK(has(plot.run.errors, "note: in the figure: Mean over seeds"));
  }
  CHECK(has(plot("curves quickstart" + plot.out("a.jpg")),
            "found the ending .jpg, expected a name that ends in .svg, .pdf or .png"));
  CHECK(has(plot("curves quickstart" + plot.out("a")), "found no ending"));
  CHECK(has(plot("curves quickstart"), "--out is required"));
}

TEST_CASE("a figure replaces only a file that ablate wrote, and a repeated command writes the same bytes") {
  Plots plot;
  const auto file = plot.folder / "a.png";
  CHECK(plot("curves quickstart" + plot.out("a.png")).empty());
  const auto first = content(file);
  CHECK(plot("curves quickstart" + plot.out("a.png")).empty());
  CHECK(content(file) == first);
  CHECK(plot("curves quickstart" + plot.out("a.pdf")).empty());
  CHECK_FALSE(has(content(plot.folder / "a.pdf"), "CreationDate"));  // a date would change every second
  std::ofstream(file) << "mine";
  CHECK(has(plot("curves quickstart" + plot.out("a.png")), "found a file that ablate did not write"));
  CHECK(content(file) == "mine");
  CHECK(plot("curves quickstart --force" + plot.out("a.png")).empty());
  CHECK(content(file) == first);
}

TEST_CASE("unknown words are refused with the nearest known word, and nothing is written") {
  Plots plot;
  const auto out = plot.out("a.svg");
  CHECK(has(plot("curve quickstart" + out), "no kind of figure \"curve\" (did you mean curves?)"));
  CHECK(has(plot("curves quickstar" + out), "did you mean quickstart?"));
  CHECK(has(plot("curves --rows atention" + out), "did you mean attention?"));
  CHECK(has(plot("curves --metric train/lose" + out), "did you mean train/loss?"));
  CHECK(has(plot("curves --where atention=softmax" + out), "attention"));
  CHECK(has(plot("curves --x secs" + out), "expected step or seconds"));
  CHECK(has(plot("heat --x time" + out), "but heat has no --x"));
  for (const auto* width : {"colum", "5", "nan", "-84"})
    CHECK(has(plot("curves --width " + std::string(width) + out), "--width: found"));
  CHECK_FALSE(std::filesystem::exists(plot.folder / "a.svg"));
}

TEST_CASE("a figure is as wide as a column or a page, or has a width in millimetres") {
  Plots plot;
  for (const auto& [width, points] : {std::pair("column", "238.11"), std::pair("page", "493.22"), std::pair("100", "283.46")}) {
    CHECK(plot("curves quickstart --width " + std::string(width) + plot.out("a.svg")).empty());
    CHECK(has(content(plot.folder / "a.svg"), "width=\"" + std::string(points)));
  }
}

TEST_CASE("if there are several experiments, one must be named") {
  Plots plot;
  {
    Store store(plot.run.file());
    put(store, "other", {trial("linear", {}, 3)});
  }
  CHECK(has(plot("curves" + plot.out("a.svg")), "has 2 experiments: quickstart, other; name one"));
}
