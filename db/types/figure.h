// A figure as data: panels with axes, series and texts. Whoever draws it chooses places, sizes and colours. No SQLite.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace ablate::db {

inline constexpr double kNoEnd = std::numeric_limits<double>::quiet_NaN();  ///< of a band or bar that is not there

inline constexpr std::size_t kMarkOfStyle = static_cast<std::size_t>(-1);  ///< the style chooses the marker
inline constexpr std::size_t kFigureMarks = 7;  ///< colours, and markers, that nobody takes for one another

struct FigureAxis {
  std::string label;
  bool log = false;                     ///< then all numbers are above 0
  std::vector<double> ticks = {};       ///< where numbers stand; none: whoever draws chooses
  std::vector<std::string> names = {};  ///< in place of numbers: names[i] stands at i; none: it has numbers
};

struct FigurePoint {
  double x = 0, y = 0;  ///< NaN: a line has a gap here
  double y_low = kNoEnd, y_high = kNoEnd;
  double x_low = kNoEnd, x_high = kNoEnd;
  bool hollow = false;  ///< a marker that stands back
};

struct FigureSeries {
  enum class Shape {
    kLine,        ///< points joined, the band between y_low and y_high filled
    kMarkedLine,  ///< with a marker and bars at each point
    kMarkers,     ///< markers and bars alone
    kStaircase,   ///< a thin line without a name: what the best points reach
  };
  std::string name;       ///< "" for a staircase
  std::size_t style = 0;  ///< equal ones look equal, in all panels; with a mark of their own they share a colour
  Shape shape = Shape::kLine;
  std::vector<FigurePoint> points = {};  ///< of lines by x
  std::string tail = {};                 ///< stands behind the name, whole also where that is cut
  std::size_t mark = kMarkOfStyle;       ///< equal ones have the same marker
};

/// Numbers by two names, as colours: values[y][x]; NaN: none.
struct FigureHeat {
  std::string label;  ///< of the numbers
  std::vector<std::vector<double>> values;
};

struct FigurePanel {
  std::string title;  ///< "": none
  FigureAxis x, y;
  std::vector<FigureSeries> series = {};
  FigureHeat heat = {};  ///< without values: no heat map
};

/// What a colour or a marker stands for, where each has a meaning of its own.
struct FigureKey {
  std::string name;
  std::size_t number = 0;  ///< FigureSeries::style or mark
  bool is_mark = false;
};

struct Figure {
  std::vector<FigurePanel> panels;
  bool names_at_points = false;         ///< each series is one point, and its name fits best beside it
  std::string caption;                  ///< what lines, bands and bars are
  std::vector<std::string> notes = {};  ///< what is left out, and what a reader must know
  std::vector<FigureKey> keys = {};     ///< if there are any, a legend has these in place of the series
};

}  // namespace ablate::db
