// Figure of parameter effects: marginal means of each parameter's values with intervals, one panel per metric.
#include <fmt/format.h>

#include <cmath>

#include "core/util/error.h"
#include "db/questions/figures/figures.h"
#include "db/questions/figures/parts.h"
#include "db/questions/tables/make_table.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

FigurePanel effects_panel(const Effects& effects, const ShownNames& names, Figure& figure) {
  auto metric = effects.metric;
  metric.name = shown_as(metric.name, names);
  FigurePanel panel{.title = "", .x = {one_row(with_unit(metric))}, .y = {""}};
  // The most important parameter is on top, at the largest y. Values of one parameter look alike.
  for (std::size_t p = effects.parameters.size(); p-- > 0;) {
    const auto& parameter = effects.parameters[p];
    FigureSeries series{"", p, FigureSeries::Shape::kMarkers};
    for (std::size_t v = parameter.values.size(); v-- > 0;) {
      const auto& value = parameter.values[v];
      const auto name = one_row(shown_as(parameter.path, names) + " " + shown_as(value.text, names));
      if (!value.unknown.empty()) figure.notes.push_back(fmt::format("{}: {}", name, value.unknown));
      if (value.without > 0)
        figure.notes.push_back(
            fmt::format("{}: {} trial{} without a number", name, value.without, value.without == 1 ? "" : "s"));
      if (!std::isfinite(value.mean)) continue;
      series.points.push_back(
          {.x = value.mean, .y = static_cast<double>(panel.y.names.size()), .x_low = value.low, .x_high = value.high});
      panel.y.names.push_back(name);
    }
    if (!series.points.empty()) panel.series.push_back(std::move(series));
  }
  for (const auto& note : effects.notes) figure.notes.push_back(note);
  return panel;
}

Figure make_effects(const Reader& reader, FigureRequest request) {
  auto& table = request.table;
  if (!table.rows.empty() || !table.columns.empty())
    throw Error(
        fmt::format("plot effects: found --{}, but the figure shows all parameters that vary; --where leaves trials out",
                    table.rows.empty() ? "cols" : "rows"));
  const auto names = names_of(reader, table);
  Figure figure;
  for (const auto& one : effects(reader, {table.experiments, table.metrics, table.where, {}}))
    figure.panels.push_back(effects_panel(one, names, figure));
  figure.caption = "Marginal means over matched settings, with 95 % intervals; the most important parameter is on top.";
  return figure;
}

}  // namespace

const FigureKind figures::effects{"effects", "marginal means of each parameter's values, with intervals", "", make_effects};

}  // namespace ablate::db
