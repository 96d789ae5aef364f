// A figure as data: panels with axes, series and texts. The drawing code chooses positions, sizes and colours. No SQLite.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace ablate::db {

inline constexpr double kNoEnd = std::numeric_limits<double>::quiet_NaN();  ///< missing end of a band or bar

inline constexpr std::size_t kMarkOfStyle = static_cast<std::size_t>(-1);  ///< the style chooses the marker
inline constexpr std::size_t kFigureMarks = 7;  ///< number of colours, and of markers, that are easy to distinguish

struct FigureAxis {
  std::string label;
  bool log = false;                     ///< a logarithmic axis: all numbers are above 0
  std::vector<double> ticks = {};       ///< positions of the numbers on the axis; empty: the drawing code chooses
  std::vector<std::string> names = {};  ///< names in place of numbers, names[i] at i; empty: the axis has numbers
};

struct FigurePoint {
  double x = 0, y = 0;  ///< NaN: the line has a gap here
  double y_low = kNoEnd, y_high = kNoEnd;
  double x_low = kNoEnd, x_high = kNoEnd;
  bool hollow = false;  ///< draws the marker hollow, so that it is less prominent
};

struct FigureSeries {
  enum class Shape {
    kLine,        ///< points joined, the band between y_low and y_high filled
    kMarkedLine,  ///< a line with a marker and bars at each point
    kMarkers,     ///< only markers and bars
    kStaircase,   ///< a thin line without a name: the best values that the points reach
  };
  std::string name;       ///< "" for a staircase
  std::size_t style = 0;  ///< series with equal styles look alike in all panels; they share only the colour if `mark` is set
  Shape shape = Shape::kLine;
  std::vector<FigurePoint> points = {};  ///< in the order of x if the shape is a line
  std::string tail = {};                 ///< text behind the name; it is never shortened
  std::size_t mark = kMarkOfStyle;       ///< series with equal marks have the same marker
};

/// Heat map: numbers by two names, shown as colours. values[y][x]; NaN: no number.
struct FigureHeat {
  std::string label;  ///< name of the numbers
  std::vector<std::vector<double>> values;
};

struct FigurePanel {
  std::string title;  ///< "": none
  FigureAxis x, y;
  std::vector<FigureSeries> series = {};
  FigureHeat heat = {};  ///< without values: no heat map
};

/// Meaning of a colour or a marker, if colours and markers have separate meanings.
struct FigureKey {
  std::string name;
  std::size_t number = 0;  ///< FigureSeries::style or mark
  bool is_mark = false;
};

struct Figure {
  std::vector<FigurePanel> panels;
  bool names_at_points = false;         ///< true if each series is one point, and its name fits best beside the point
  std::string caption;                  ///< explains lines, bands and bars
  std::vector<std::string> notes = {};  ///< omissions and cautions for the reader
  std::vector<FigureKey> keys = {};     ///< entries of the legend in place of the series; empty: the series
};

}  // namespace ablate::db
