// A panel: its frame, numbers and series.
#pragma once

#include "db/types/figure.h"
#include "tools/plot/canvas.h"
#include "tools/plot/scale.h"

namespace ablate {

inline constexpr double kTextSize = 8, kSmallSize = 7;  ///< points: of a paper's captions, and a little less
inline constexpr double kMarker = 2.6;                  ///< radius
inline constexpr double kLine = 1.1;

/// What a panel needs around its axes, before it has a place.
struct Margins {
  double left = 0, right = 0, above = 0, below = 0;
};

/// A panel with its scales; both outlive nothing but the figure.
class Panel {
 public:
  /// @param figure outlives it
  Panel(const db::FigurePanel& panel, Fonts& fonts);

  /// Around axes of that size, which decides how many ticks there are. @param longest of a panel's names, in points
  Margins margins(double width, double height, double longest);
  /// Puts it onto the canvas. @param axes where its axes are @param names whether series are named at their points
  void draw(Canvas& canvas, const Box& axes, bool names, double longest);
  /// Whether each series' name has a place at its point, when its axes are there.
  bool names_fit(const Box& axes);

  bool is_heat() const { return !panel_.heat.values.empty(); }
  const db::FigurePanel& data() const { return panel_; }

 private:
  Place at(const Box& axes, double x, double y) const;
  void draw_axes(Canvas& canvas, const Box& axes, double longest);
  void draw_x(Canvas& canvas, const Box& axes, double longest);
  void draw_band(Canvas& canvas, const Box& axes, const db::FigureSeries& series) const;
  void draw_line(Canvas& canvas, const Box& axes, const db::FigureSeries& series) const;
  void draw_points(Canvas& canvas, const Box& axes, const db::FigureSeries& series) const;
  std::vector<Tick> x_ticks(double width);
  std::vector<Tick> y_ticks(double height) const;
  bool x_upright(double width);

  const db::FigurePanel& panel_;
  Fonts& fonts_;
  Scale x_, y_;
};

/// A marker as a legend and a panel show it.
void draw_marker(Canvas& canvas, const Place& at, const SeriesStyle& style, bool hollow);

}  // namespace ablate
