// The kinds of figures that `ablate plot` draws. A new kind is a line here and the file that it names,
// db/questions/figures/FILE.cpp.
#pragma once

#include <string>
#include <vector>

#include "db/questions/tables/make_table.h"
#include "db/types/figure.h"

namespace ablate::db {

/// File and name of each, in the order of the help.
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
  TableRequest table;  ///< which trials, by what: rows are lines, columns panels, unless the kind says otherwise
  std::string x = {};  ///< what the kind's x_help says; "": its default
};

struct FigureKind {
  const char* name;
  const char* help;
  const char* x_help;  ///< of --x; "": the kind takes none
  /// Throws Error as make_table does, for an x that the kind does not know, and where there is nothing to draw.
  Figure (*make)(const Reader& reader, FigureRequest request);
};

namespace figures {
#define ABLATE_FIGURE(file) extern const FigureKind file;
ABLATE_FIGURES(ABLATE_FIGURE)
#undef ABLATE_FIGURE
}  // namespace figures

const std::vector<const FigureKind*>& all_figures();
/// Throws Error with the nearest name.
const FigureKind& figure_kind(const std::string& name);

/// Throws Error where the kind takes no x and one is asked for; else as FigureKind::make.
Figure make_figure(const Reader& reader, const FigureKind& kind, const FigureRequest& request);

}  // namespace ablate::db
