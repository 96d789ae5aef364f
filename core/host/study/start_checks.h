// Checks of a study that need the tasks' data and this machine.
#pragma once

#include <cstdint>
#include <functional>

#include "core/host/study/study.h"
#include "core/host/study/used_plugins.h"
#include "core/shared/requirements.h"

namespace ablate {

/// Function that returns the answer of a trial's task. Its exceptions reach the caller of a check.
template <class Answer>
using OfTask = std::function<Answer(const Trial& trial)>;

/// Returns the location of the first path that the trial sets, or of the file if it sets none.
Location where_of(const Study& study, const Trial& trial, std::initializer_list<std::string> paths);

/// Reports every compression rate that leaves less than one slot of a sequence (rate * length < 1), in the order of the file.
/// Skips a rate that its plugin does not read (ParameterInfo::when).
/// @param length tokens of the task's longest sequence
std::vector<Diagnostic> check_rates(const Study& study, const Catalog& catalog, const OfTask<std::int64_t>& length);

/// Returns [train] with every default, for checks that do not depend on [train].
TrainSpec any_training();

/// Returns the promises of a plugin with its parameters and parts.
using PromisesOf = std::function<Capabilities(const PluginUse& use)>;

/// Reports attentions and compressions that do not promise what their task, device and number type need. If a plugin and
/// its part lack the same promise, reports only the part.
std::vector<Diagnostic> check_asked(const Study& study, const Catalog& catalog, const OfTask<TaskShape>& shape,
                                    const PromisesOf& promises);

/// Reports settings that differ from their default and change nothing in any trial. Trials that differ only in such settings
/// would be the same.
std::vector<Diagnostic> check_idle(const Study& study, const OfTask<TaskShape>& shape);

/// Reports trials of a stream for which dev would choose train.batch: the number of lanes changes dev's results.
std::vector<Diagnostic> check_lanes(const Study& study, const OfTask<TaskShape>& shape);

/// True if one of the trial's attentions cannot take padded sequences.
bool refuses_padding(const Trial& trial, const Catalog& catalog, const PromisesOf& promises);

/// Returns why torch cannot compute on a device, or with mixed precision there; "" if it can.
using DeviceRefusal = std::function<std::string(const std::string& device, bool mixed)>;

/// Reports devices that cannot be opened, and missing mixed precision. Calls `refusal` once for each combination, but never for
/// a CPU without mixed precision. Exceptions of `refusal` reach the caller.
std::vector<Diagnostic> check_devices(const Study& study, const DeviceRefusal& refusal);

}  // namespace ablate
