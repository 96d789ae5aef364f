// A figure on paper: where its panels, its legend and its caption stand.
#pragma once

#include <string>
#include <vector>

#include "db/types/figure.h"
#include "tools/ablate/questions/plot_options.h"
#include "tools/ablate/questions/questions.h"
#include "tools/plot/canvas.h"

namespace ablate {

struct Drawing {
  std::string file;                ///< its bytes
  double width = 0, height = 0;    ///< in points
  std::vector<PlacedText> texts;   ///< all that it shows
  std::vector<std::string> notes;  ///< what could not be drawn as it is
};

/// @param width_mm of the sheet; its height follows from what is on it. Throws Error.
Drawing draw(const db::Figure& figure, Picture picture, double width_mm, const std::string& title);

/// Draws what is asked for into its file, and says on stderr what is left out. Throws Error.
void plot(const PlotArguments& asked, const DatabaseFile& database);

}  // namespace ablate
