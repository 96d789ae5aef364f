// The curves of attempts. Internal to db/.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "db/history/reader.h"

namespace ablate::db {

/// Step and value (NaN where it was no number), by step.
using CurvePoints = std::vector<std::pair<std::int64_t, double>>;

/// A metric's curve of each attempt; empty where it has none.
std::vector<CurvePoints> load_curves(const Reader& reader, std::int64_t metric_id, const std::vector<std::int64_t>& attempts);

/// The names of the metrics of which any of the attempts has a curve, sorted.
std::vector<std::string> metrics_with_curves(const Reader& reader, const std::vector<std::int64_t>& attempts);

}  // namespace ablate::db
