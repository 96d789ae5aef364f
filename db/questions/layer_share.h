// The share of a model's layers that have one attention: the axis share(softmax). Internal to db/.
#pragma once

#include <optional>
#include <string>

#include "db/questions/selection.h"

namespace ablate::db {

/// "softmax" of "share(softmax)"; nothing where a path is no share.
std::optional<std::string> attention_of_share(const std::string& path);

/// The axis of such a path: "0", "1/4", "1" of each trial that has an attention. Layers take the entries of a list in turn, so
/// the share among the entries is the layers'. A mixture of attentions is a layer of that mixture. Nothing where no trial has
/// a layer of this attention.
std::optional<Axis> load_share(const Reader& reader, const std::vector<SelectedTrial>& trials, const std::string& path);

}  // namespace ablate::db
