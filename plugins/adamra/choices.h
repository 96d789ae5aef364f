// Statistics of the router's choices.
#pragma once

#include <vector>

#include "ablate/attention.h"

namespace ablate::adamra {

/// Returns the mean entropy, in bits, of the router probabilities of the real queries.
/// @param probability [batch * n, heads]
/// @param real [batch, n] bool; undefined: all
double entropy(const Tensor& probability, const Tensor& real);

/// Returns the percentage of real queries that read in each head (head_share_H), over the sequence and over each quarter of
/// an item's own length (head_share_H_quarter_Q). A quarter without queries is left out.
/// @param chosen [batch, n] int64, in [0, heads)
/// @param real [batch, n] bool, padding at the end; undefined: all
std::vector<Measurement> head_shares(const Tensor& chosen, const Tensor& real, std::int64_t heads);

}  // namespace ablate::adamra
