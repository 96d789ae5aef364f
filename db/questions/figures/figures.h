// Kinds of figures that `ablate plot` draws. A new kind needs a line here and the file db/questions/figures/FILE.cpp.
#pragma once

#include <string>
#include <vector>

#include "db/questions/tables/make_table.h"
#include "db/types/figure.h"

namespace ablate::db {

/// File and name of each kind, in the order of the help.
// clang-format off
#define ABLATE_FIGURES(figure) \
  figure(curves)               \
  figure(front)                \
  figure(growth)               \
  figure(heat)                 \
  figure(windows)              \
  figure(effects)
// clang-format on

struct FigureRequest {
  TableRequest table;  ///< selects and groups the trials: rows are lines and columns are panels, except in some kinds
  std::string x = {};  ///< value of --x, see x_help; "": the kind's default
};

struct FigureKind {
  const char* name;
  const char* help;
  const char* x_help;  ///< help for --x; "": the kind takes no --x
  /// Throws Error as make_table does, for an unknown x, and if there is nothing to draw.
  Figure (*make)(const Reader& reader, FigureRequest request);
};

namespace figures {
#define ABLATE_FIGURE(file) extern const FigureKind file;
ABLATE_FIGURES(ABLATE_FIGURE)
#undef ABLATE_FIGURE
}  // namespace figures

const std::vector<const FigureKind*>& all_figures();
/// Returns a kind by name. Throws Error with the nearest name.
const FigureKind& figure_kind(const std::string& name);

/// Makes a figure. Throws Error as FigureKind::make does, and if x is set for a kind that takes no --x.
Figure make_figure(const Reader& reader, const FigureKind& kind, const FigureRequest& request);

}  // namespace ablate::db
