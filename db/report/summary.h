// Mean, deviation and interval of samples.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

struct Summary {
  int n = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();  ///< NaN for n = 0, or if a sample is NaN
  /// Sample deviation (n - 1); 0 if it is no larger than the mean's rounding error; NaN for n < 2.
  double deviation = std::numeric_limits<double>::quiet_NaN();
};

Summary summary_of(std::span<const Sample> samples);

/// True if each sample has its own seed, or there is one sample. Then samples match across metrics and columns by seed.
bool have_own_seeds(std::span<const Sample> samples);

/// Returns each seed's mean over `settings` settings. Returns nullopt unless every setting has the same seeds, each once.
std::optional<std::vector<Sample>> seed_means(std::span<const Sample> samples, int settings);

/// Summarises the samples of a cell. Over several settings, the mean is the mean of the settings' means; number and deviation
/// come from seed_means. Without seed_means, the number counts all samples and there is no deviation.
Summary summary_over_settings(std::span<const Sample> samples, int settings);

/// Returns half the width of the 95 % interval of the mean, by Student's t; NaN for n < 2.
/// @param overlap 0 for independent samples. For repeated splits of the same data, whose results are correlated, it is the size
/// of a test split divided by the size of a training split. The variance of the mean is the sample variance times (1/n +
/// overlap) (Nadeau and Bengio 2003, section 5).
double interval_of(const Summary& summary, double overlap);

/// Returns the relative uncertainty of a cell's mean; 0 if it is unknown.
double relative_uncertainty(const Cell& cell);

}  // namespace ablate::db
