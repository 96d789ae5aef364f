// The command as ablate-plot carries it out.
#pragma once

#include "tools/ablate/questions/plot_options.h"
#include "tools/ablate/questions/questions.h"

namespace ablate {

/// Draws what is asked for into its file, and says on stderr what is left out. Throws Error.
void plot(const PlotArguments& asked, const DatabaseFile& database);

}  // namespace ablate
