// How a person tells the trials of a study apart.
#pragma once

#include <vector>

#include "core/host/study/draft.h"

namespace ablate {

/// Fills in Trial::label: of the paths that the grid sets, those with more than one value among the trials, the seed last. A
/// study of one trial is called by its attention. Labels of different trials differ: what the grid does not set is the same for
/// all, or follows from the plugins.
void add_labels(const Draft& draft, std::vector<Trial>& trials);

}  // namespace ablate
