// PATH=VALUE of a study, for completion.
#pragma once

#include <string>
#include <vector>

#include "tools/ablate/completion/complete.h"

namespace ablate {

/// What goes on with a part of PATH=VALUE: the next section or key ("train.", "train.steps="), behind = a value that is one of
/// few.
/// @param plugins all that are known @param study its text: of a kind only the plugins count that it names in quotes, or all
/// where it names none
std::vector<CompletedWord> complete_study_path(const std::string& part, const std::vector<PluginInfo>& plugins,
                                               const std::string& study);

/// NAME=VALUE of the plugins of these ids.
std::vector<CompletedWord> complete_parameter(const std::string& part, const std::vector<PluginInfo>& plugins,
                                              const std::vector<std::string>& ids);

}  // namespace ablate
