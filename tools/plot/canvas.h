// Positions, colours and fonts, and a sheet for lines, areas and texts that becomes an SVG, a PDF or a PNG.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "db/types/figure.h"
#include "tools/ablate/questions/plot_options.h"

typedef struct _cairo_scaled_font cairo_scaled_font_t;  // NOLINT(bugprone-reserved-identifier): cairo's own name

namespace ablate {

/// Finds a font that has all characters of a text, and measures the text's width. For one thread only.
class Fonts {
 public:
  Fonts() = default;
  ~Fonts();
  Fonts(const Fonts&) = delete;
  Fonts& operator=(const Fonts&) = delete;

  /// Returns the first font of a list that has all characters of a text, else the first font. `size` is in points.
  cairo_scaled_font_t* font(const std::string& text, double size);
  /// Like font(), and records the text if the font lacks some of its characters.
  cairo_scaled_font_t* shown_font(const std::string& text, double size);
  /// Returns the width of a text in points, from its start to the start of a character that would follow it.
  double width(const std::string& text, double size);
  /// Returns the text, or its longest beginning that fits, followed by "…".
  std::string cut(const std::string& text, double size, double most);

  /// Shown texts for which no font has all characters.
  const std::set<std::string>& without_glyphs() const { return without_glyphs_; }

 private:
  std::pair<cairo_scaled_font_t*, bool> find(const std::string& text, double size);  ///< true: the font has all characters
  cairo_scaled_font_t* of_family(const std::string& family, double size);

  std::map<std::pair<std::string, double>, cairo_scaled_font_t*> fonts_;
  std::set<std::string> without_glyphs_;
};

/// Height of capitals and digits, and of a line, as shares of the font's size.
inline constexpr double kCapital = 0.72, kLineHeight = 1.25;

/// Position in points (1/72 inch) from a figure's upper left corner.
struct Place {
  double x = 0, y = 0;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  bool meets(const Box& other) const {
    return x < other.right() && other.x < right() && y < other.bottom() && other.y < bottom();
  }
  bool holds(const Box& other) const {
    return other.x >= x && other.y >= y && other.right() <= right() && other.bottom() <= bottom();
  }
};

/// Colour, with components from 0 to 1. Colours, dashes and markers of series also differ in grey and to the colour-blind.
struct Colour {
  double red = 0, green = 0, blue = 0, alpha = 1;

  /// Luminance of the coded Rec. 709 primaries, as a grey print shows it.
  double luminance() const { return 0.2126 * red + 0.7152 * green + 0.0722 * blue; }
};

inline constexpr Colour kInk{0, 0, 0}, kGrey{0.45, 0.45, 0.45}, kFaint{0.87, 0.87, 0.87}, kPaper{1, 1, 1};

struct SeriesStyle {
  Colour colour;
  std::vector<double> dash;   ///< lengths of strokes and gaps in points; empty: solid
  std::vector<Place> marker;  ///< polygon around 0, within the unit circle
};

/// Returns the style of a series. Among the first 49, no two have the same colour and dash, or the same colour and marker.
/// The first 7 differ in colour, dash and marker. Colours: Okabe and Ito (2008), without their yellow, hard to see on paper.
/// @param mark number of the marker; kMarkOfStyle: the marker follows from `style`
SeriesStyle series_style(std::size_t style, std::size_t mark = db::kMarkOfStyle);

/// Maps 0 to 1 to colours from dark to light, with growing luminance (cividis; Nunez, Anderton and Renslow 2018, at 9 places).
Colour heat_colour(double share);

inline constexpr double kPointsPerMm = 72 / 25.4;
inline constexpr double kDotsPerInch = 300;  ///< resolution of a PNG

struct Pen {
  Colour colour = kInk;
  double width = 0.5;
  std::vector<double> dash = {};
};

/// Part of a text that is at the text's position: its start, middle or end.
enum class At { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 8;
  Colour colour = kInk;
  At along = At::kStart;
  bool upright = false;  ///< runs from bottom to top
};

struct PlacedText {
  std::string text;
  Box box;  ///< its height is the height of capitals
};

class Canvas {
 public:
  /// @param width,height in points
  /// @param title title in the file
  /// @param fonts must outlive the canvas
  Canvas(Picture picture, double width, double height, const std::string& title, Fonts& fonts);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  void line(std::span<const Place> places, const Pen& pen);
  void fill(std::span<const Place> places, const Colour& colour);
  void outline(std::span<const Place> places, const Pen& pen);
  void fill(const Box& box, const Colour& colour);
  /// @param at position at half the height of the capitals
  void text(const Place& at, const std::string& text, const TextStyle& style);

  /// Hides everything drawn outside of the box until `unclip`.
  void clip(const Box& box);
  void unclip();

  /// Returns all texts drawn so far.
  const std::vector<PlacedText>& texts() const;

  /// Ends the sheet and returns the file. Throws Error if cairo fails.
  std::string bytes();

 private:
  struct Sheet;
  void trace(std::span<const Place> places);
  void stroke(const Pen& pen);

  std::unique_ptr<Sheet> sheet_;
  Fonts& fonts_;
};

}  // namespace ablate
