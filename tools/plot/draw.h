// Draws a figure: places its panels, its legend and its caption.
#pragma once

#include <string>
#include <vector>

#include "db/types/figure.h"
#include "tools/ablate/questions/plot_options.h"
#include "tools/ablate/questions/questions.h"
#include "tools/plot/canvas.h"

namespace ablate {

struct Drawing {
  std::string file;                ///< bytes of the file
  double width = 0, height = 0;    ///< in points
  std::vector<PlacedText> texts;   ///< all texts in the figure
  std::vector<std::string> notes;  ///< parts that could not be drawn exactly
};

/// Draws a figure, whose height follows from its content. Throws Error. `width_mm` is the sheet's width.
Drawing draw(const db::Figure& figure, Picture picture, double width_mm, const std::string& title);

/// Draws the requested figure into its file, and writes to stderr what was left out. Throws Error.
void plot(const PlotArguments& options, const DatabaseFile& database);

}  // namespace ablate
