// Which metric a question is about that names none. Internal to db/.
#pragma once

#include <vector>

#include "db/questions/selection.h"

namespace ablate::db {

/// What the trials say that they are judged by (Attempt::main_metric), each such metric once, in the trials' order. Where none
/// says so: test/accuracy, else dev/accuracy, else train/step_time, else the first metric with a direction; of those that any
/// of the trials has a value of. The score of a trial that ran for a bench says that it runs, not what it learned: it comes
/// after train/step_time. Attempts that do not say what they ran for count as a study's. Never a metric of a group; none where
/// there are no values.
std::vector<Reader::StoredMetric> main_metrics(const Reader& reader, const std::vector<SelectedTrial>& trials);

}  // namespace ablate::db
