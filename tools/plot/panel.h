// A panel: its frame, numbers and series.
#pragma once

#include "db/types/figure.h"
#include "tools/plot/canvas.h"
#include "tools/plot/scale.h"

namespace ablate {

inline constexpr double kTextSize = 8, kSmallSize = 7;  ///< points: the size of a paper's captions, and a smaller size
inline constexpr double kMarker = 2.6;                  ///< radius
inline constexpr double kLine = 1.1;

/// Space that a panel needs around its axes.
struct Margins {
  double left = 0, right = 0, above = 0, below = 0;
};

/// A panel with its scales.
class Panel {
 public:
  /// @param panel,fonts must outlive this object
  Panel(const db::FigurePanel& panel, Fonts& fonts);

  /// Returns the margins for axes of this size, in points. The size limits the number of ticks, `longest` the width of a name.
  Margins margins(double width, double height, double longest);
  /// Draws the panel, with its axes in the box `axes`. If `names`, each series' name is written at its first point.
  void draw(Canvas& canvas, const Box& axes, bool names, double longest);
  /// True if there are names, and each finds a place at its series' first point, with the axes in this box.
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

/// Draws a marker, for a legend or a panel.
void draw_marker(Canvas& canvas, const Place& at, const SeriesStyle& style, bool hollow);

}  // namespace ablate
