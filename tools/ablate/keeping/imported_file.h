// A file of trials, as other programs and `ablate export` write it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "db/types/imported.h"

namespace ablate {

/// CSV with a header (core/util/csv.h), or, where it begins with "{", JSON lines as `ablate export` writes them: a trial a
/// line. A metric that a trial is judged by is main_metric's; where no column says it, the first that is a score of the test
/// split. Spellings of one number become one value. If lines have the same parameters and seed, only the last done one is kept,
/// or the last one if none is done. Throws Error with file, line and column: a name or a value that cannot be, no experiment,
/// no metric.
/// @param name the file's, for messages and notes @param experiment goes before the file's own; "": those of the file
/// @param known metrics of the history @param stored values of its parameters
db::ImportedFile read_imported(std::string_view text, const std::string& name, const std::string& experiment,
                               const std::vector<MetricInfo>& known, const db::ParameterValues& stored);

}  // namespace ablate
