// A sheet that lines, areas and texts are put on, and that becomes an SVG, a PDF or a PNG.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/ablate/questions/plot_options.h"
#include "tools/plot/fonts.h"
#include "tools/plot/geometry.h"
#include "tools/plot/style.h"

namespace ablate {

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
