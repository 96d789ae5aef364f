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
  double mean = std::numeric_limits<double>::quiet_NaN();  ///< NaN for n = 0, or where a sample is NaN
  /// Of the sample (n - 1); 0 below the rounding of the mean; NaN for n < 2.
  double deviation = std::numeric_limits<double>::quiet_NaN();
};

Summary summary_of(std::span<const Sample> samples);

/// Whether each sample has a seed of its own, or there is one alone: values of other metrics or columns have partners.
bool have_own_seeds(std::span<const Sample> samples);

/// Returns each seed's mean over so many settings, or nothing if one lacks a seed of another or has one twice.
std::optional<std::vector<Sample>> seed_means(std::span<const Sample> samples, int settings);

/// Summarises the samples of a cell. Over several settings: the mean of their means, and number and deviation of seed_means;
/// without those the number of all samples and no deviation.
Summary summary_over_settings(std::span<const Sample> samples, int settings);

/// Half the width of the 95 % interval of the mean, by Student's t; NaN for n < 2.
/// @param overlap 0 for independent samples; for repeated splits of the same data the size of a test split over that of a
/// training split. Their results are correlated: the variance of the mean is that of a sample times 1/n + overlap (Nadeau and
/// Bengio 2003, section 5)
double interval_of(const Summary& summary, double overlap);

/// The relative uncertainty of a cell's mean; 0 where it is unknown.
double relative_uncertainty(const Cell& cell);

}  // namespace ablate::db
