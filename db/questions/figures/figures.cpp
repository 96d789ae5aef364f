#include "db/questions/figures/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.h"
#include "core/util/nearest.h"

namespace ablate::db {
namespace {

/// True if there is a number to draw.
bool shows_something(const FigurePanel& panel) {
  const auto has_point = [](const FigureSeries& series) { return !series.points.empty(); };
  return !panel.heat.values.empty() || std::any_of(panel.series.begin(), panel.series.end(), has_point);
}

}  // namespace

const std::vector<const FigureKind*>& all_figures() {
  static const std::vector<const FigureKind*> all = {
#define ABLATE_FIGURE(file) &figures::file,
      ABLATE_FIGURES(ABLATE_FIGURE)
#undef ABLATE_FIGURE
  };
  return all;
}

const FigureKind& figure_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const auto* kind : all_figures()) {
    if (kind->name == name) return *kind;
    names.emplace_back(kind->name);
  }
  throw Error(fmt::format("no kind of figure \"{}\"{}", name, hint(name, names)));
}

Figure make_figure(const Reader& reader, const FigureKind& kind, const FigureRequest& request) {
  if (*kind.x_help == '\0' && !request.x.empty())
    throw Error(fmt::format("--x: found {}, but {} has no --x", request.x, kind.name));
  auto figure = kind.make(reader, request);
  std::erase_if(figure.panels, [](const FigurePanel& panel) { return !shows_something(panel); });
  if (figure.panels.empty())
    throw Error(
        fmt::format("plot {}: found no trial with all numbers of the figure; `ablate table --metric` shows the numbers, "
                    "`ablate attempts` the outcomes",
                    kind.name));
  return figure;
}

}  // namespace ablate::db
