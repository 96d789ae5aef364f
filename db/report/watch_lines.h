// A running grid as lines of text, for a terminal of any width.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/report/seen_losses.h"
#include "db/types/watch_state.h"

namespace ablate::db {

struct WatchView {
  std::size_t width = 100;  ///< columns; no line is longer
  std::size_t height = 0;   ///< lines; what comes last is counted instead; 0: any number
  bool colour = false;      ///< with escape sequences, which take no columns
};

/// The picture. Names come from studies and plugins, and are cleaned (one_row).
/// @param trouble why this is not the latest state; "": it is
std::vector<std::string> watch_lines(const std::vector<WatchState>& states, const SeenLosses& seen, const std::string& trouble,
                                     const WatchView& view);

/// "quickstart: 11 done, 1 failed; `ablate table quickstart` prints the table": what there is to say where nothing runs any
/// more.
std::string watch_summary(const WatchState& state);

}  // namespace ablate::db
