// The names of series, below the panels, in as many columns as fit.
#pragma once

#include <vector>

#include "db/types/figure.h"
#include "tools/plot/canvas.h"

namespace ablate {

class Legend {
 public:
  /// The figure's keys; without any, each look once, by the numbers of style and marker. @param width in points
  Legend(const db::Figure& figure, double width, Fonts& fonts);

  double height() const;
  void draw(Canvas& canvas, const Place& at) const;

 private:
  struct Entry {
    std::size_t style = 0, mark = 0;
    db::FigureSeries::Shape shape = db::FigureSeries::Shape::kMarkers;
    std::string name, tail;      ///< the name with its tail, once it is cut
    bool of_any_colour = false;  ///< a marker's own meaning
  };
  void add_keys(const db::Figure& figure);
  void add_series(const db::Figure& figure);

  std::vector<Entry> entries_;
  std::size_t columns_ = 1;
  double column_ = 0;  ///< its width
};

}  // namespace ablate
