// Number of seeds that a difference needs, known before the trials run.
#pragma once

#include <string>

namespace ablate::db {

/// Share of all cases in which a true difference has to be significant.
inline constexpr double kPower = 0.8;

/// Returns the share of cases in which a paired t test at a two-sided level finds a difference. n >= 2.
/// @param effect the difference over the standard deviation of the paired differences
double paired_power(double effect, int n, double level);

/// Returns the share of cases for the exact sign-flip test, which tables use, with normal differences. The share is exact if
/// only one choice of signs reaches the level. Otherwise it comes from 10,000 samples or, above 500 choices, from the t test.
double sign_flip_power(double effect, int n, double level);

/// Returns the smallest number of seeds with which the exact paired test finds an effect in kPower of cases at a level.
/// @param effect > 0; returns 0 if it needs more than 10,000 seeds
/// @param t_test uses the paired t test instead of the exact test
int seeds_for(double effect, double level, bool t_test = false);

/// Returns the least effect that n seeds find in kPower of cases at a level; infinity if no exact test reaches the level.
/// @param t_test uses the paired t test instead of the exact test
double least_effect(int n, double level, bool t_test = false);

/// Returns "35 comparisons, which need 11 seeds": with fewer seeds no exact test reaches the level, whatever the deviation.
std::string fewest_seeds_text(int comparisons);
/// "35 comparisons", "1 comparison".
std::string comparisons_text(int comparisons);

/// Returns the note that no difference can be significant. The note has the number of seeds with which a difference of at least
/// 2 deviations (of the paired differences) is significant in kPower of cases.
/// @param comparisons at least 1
/// @param are_seeds false for values without seeds; no number of seeds is named then
std::string nothing_significant_text(int n, int comparisons, bool are_seeds = true);

}  // namespace ablate::db
