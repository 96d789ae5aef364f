// Checks of a trial's values against each other, which no single parameter's schema can say.
#pragma once

#include <set>
#include <string>

#include "core/host/study/diagnostics.h"

namespace ablate {

/// A list of attentions divides the layers, the warm-up fits the training and the schedule, the device is one. False, and
/// diagnostics, otherwise. @param wrong paths of values that could not be resolved, and are not checked
bool cross_check(const Trial& trial, const std::set<std::string>& wrong, Diagnostics& diagnostics);

/// A plugin runs on the trial's device and in its type only where it promises to. False, and a diagnostic, otherwise.
/// @param path of the plugin's section
bool check_promises(const Trial& trial, const PluginInfo& plugin, const std::string& path, Diagnostics& diagnostics);

}  // namespace ablate
