// Where trials ran, and what of it may change their numbers. Internal to db/.
#pragma once

#include <string>
#include <vector>

#include "db/questions/cells.h"
#include "db/questions/selection.h"

namespace ablate::db {

/// Notes for a table over trials that are done:
/// - "measured on 2 machines, whose costs do not compare: HOST (PROCESSOR), ...", where any of the metrics is a cost;
/// - "computed in 2 environments, whose numbers may differ: FIELD = VALUE / VALUE (12 / 6 trials); ...": processor (not where
///   all metrics are costs and the first note names it), cpu_capability, kernels (the fused forms' instructions), torch,
///   libraries, variables except those of OpenMP, for trials of mixed products kernels_bfloat16, and on a GPU gpus and
///   gpu_driver. What an environment does not record does not count, and a trial that went on from another environment's
///   checkpoint counts in both;
/// - "seeds of one row computed by different instructions: ROW (VALUE / VALUE), ...", by cpu_capability, kernels and
///   kernels_bfloat16: there a deviation over seeds holds some of theirs.
std::vector<std::string> environment_notes(const TableTrials& from, const Table& table);

/// A note for each file that trials were imported from, in the trials' order; none where all ran here.
std::vector<std::string> import_notes(const Reader& reader, const std::vector<SelectedTrial>& trials);

}  // namespace ablate::db
