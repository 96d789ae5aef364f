// How series look: colours, dashes and markers that also differ in grey and to the colour-blind.
#pragma once

#include <cstddef>
#include <vector>

#include "db/types/figure.h"
#include "tools/plot/geometry.h"

namespace ablate {

/// Each from 0 to 1.
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

}  // namespace ablate
