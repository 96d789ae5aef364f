// Places, colours and fonts, and a sheet for lines, areas and texts, which becomes an SVG, a PDF or a PNG.
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

/// Texts as glyphs: finds the font that has all of a text's characters, and measures its width. One thread.
class Fonts {
 public:
  Fonts() = default;
  ~Fonts();
  Fonts(const Fonts&) = delete;
  Fonts& operator=(const Fonts&) = delete;

  /// The font for a text: the first of a list that has all its characters, else the first of all. @param size in points
  cairo_scaled_font_t* font(const std::string& text, double size);
  /// The same for a text that is shown.
  cairo_scaled_font_t* shown_font(const std::string& text, double size);
  /// In points, from the start to where a next character would stand.
  double width(const std::string& text, double size);
  /// The text, or as much of its beginning as fits, and "…".
  std::string cut(const std::string& text, double size, double most);

  /// Shown texts of which no font here has all characters.
  const std::set<std::string>& without_glyphs() const { return without_glyphs_; }

 private:
  std::pair<cairo_scaled_font_t*, bool> find(const std::string& text, double size);  ///< and whether it has all
  cairo_scaled_font_t* of_family(const std::string& family, double size);

  std::map<std::pair<std::string, double>, cairo_scaled_font_t*> fonts_;
  std::set<std::string> without_glyphs_;
};

/// How high capitals and digits are, and a line with what hangs below it, of a font's size.
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

  /// Of the Rec. 709 primaries as they are coded: what a print in grey keeps.
  double luminance() const { return 0.2126 * red + 0.7152 * green + 0.0722 * blue; }
};

inline constexpr Colour kInk{0, 0, 0}, kGrey{0.45, 0.45, 0.45}, kFaint{0.87, 0.87, 0.87}, kPaper{1, 1, 1};

struct SeriesStyle {
  Colour colour;
  std::vector<double> dash;   ///< lengths of strokes and gaps in points; none: solid
  std::vector<Place> marker;  ///< a polygon around 0, within the unit circle
};

/// Of the 49 first no two have the same colour and dash, nor the same colour and marker; of the 7 first all three differ.
/// Colours: Okabe and Ito (2008), without their yellow, which paper swallows.
/// @param mark of the marker, where the style does not choose it
SeriesStyle series_style(std::size_t style, std::size_t mark = db::kMarkOfStyle);

/// 0 to 1 from dark to light, of ever growing luminance (cividis; Nunez, Anderton and Renslow 2018, at 9 places).
Colour heat_colour(double share);

inline constexpr double kPointsPerMm = 72 / 25.4;
inline constexpr double kDotsPerInch = 300;  ///< of a PNG

struct Pen {
  Colour colour = kInk;
  double width = 0.5;
  std::vector<double> dash = {};
};

/// Which of a text's places is given: its start, its middle or its end.
enum class At { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 8;
  Colour colour = kInk;
  At along = At::kStart;
  bool upright = false;  ///< from below to above
};

struct PlacedText {
  std::string text;
  Box box;  ///< of its capitals' height
};

class Canvas {
 public:
  /// @param width,height in points @param title what the file says that it is @param fonts outlives it
  Canvas(Picture picture, double width, double height, const std::string& title, Fonts& fonts);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  void line(std::span<const Place> places, const Pen& pen);
  void fill(std::span<const Place> places, const Colour& colour);
  void outline(std::span<const Place> places, const Pen& pen);
  void fill(const Box& box, const Colour& colour);
  /// @param at on the middle of the capitals' height
  void text(const Place& at, const std::string& text, const TextStyle& style);

  /// Until `unclip` nothing is seen outside of the box.
  void clip(const Box& box);
  void unclip();

  /// All so far.
  const std::vector<PlacedText>& texts() const;

  /// The file. Ends the sheet. Throws Error where cairo fails.
  std::string bytes();

 private:
  struct Sheet;
  void trace(std::span<const Place> places);
  void stroke(const Pen& pen);

  std::unique_ptr<Sheet> sheet_;
  Fonts& fonts_;
};

}  // namespace ablate
