// The question for what each parameter of a grid does to a metric.
#pragma once

#include <string>
#include <vector>

#include "db/history/reader.h"
#include "db/types/effects.h"

namespace ablate::db {

struct EffectsRequest {
  std::vector<std::string> experiments;  ///< as in TableRequest
  std::vector<std::string> metrics;      ///< likewise
  std::vector<std::string> where;        ///< likewise
  /// "PATH=VALUE" of the setting that others are compared with, as many as it takes to name one; none: no changes.
  std::vector<std::string> reference;
};

/// One for each metric. The parameters are all that vary among the trials, but for seeds and for what dev chooses: there the
/// chosen value counts. Throws Error as make_table does, where nothing varies, and for a reference that is not exactly one
/// setting, with the nearest name.
std::vector<Effects> effects(const Reader& reader, const EffectsRequest& request);

}  // namespace ablate::db
