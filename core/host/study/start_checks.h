// The checks of a study that need to know more than its text and its plugins: the tasks' data and this machine.
#pragma once

#include <cstdint>
#include <functional>

#include "core/host/study/study.h"
#include "core/host/study/used_plugins.h"
#include "core/shared/requirements.h"

namespace ablate {

/// What the task of a trial said. What it throws goes through.
template <class Answer>
using OfTask = std::function<Answer(const Trial& trial)>;

/// Where the first of some paths is that the trial sets; of the file as a whole where it sets none.
Location where_of(const Study& study, const Trial& trial, std::initializer_list<std::string> paths);

/// Reports every compression rate that leaves less than one slot of a sequence (rate * length < 1), in the order of the file.
/// Skips a rate that its plugin does not read (ParameterInfo::when).
/// @param length tokens of the task's longest sequence
std::vector<Diagnostic> check_rates(const Study& study, const Catalog& catalog, const OfTask<std::int64_t>& length);

/// Every default: for what does not depend on how a trial trains.
TrainSpec any_training();

/// What a plugin promises with its parameters and parts.
using PromisesOf = std::function<Capabilities(const PluginUse& use)>;

/// Reports every attention and compression that does not promise what its task, device and type ask of it; of a plugin and its
/// parts the innermost.
std::vector<Diagnostic> check_asked(const Study& study, const Catalog& catalog, const OfTask<TaskShape>& shape,
                                    const PromisesOf& promises);

/// Reports every setting that changes nothing in any trial of the study, and is not at its default: trials that it sets apart
/// would be the same.
std::vector<Diagnostic> check_idle(const Study& study, const OfTask<TaskShape>& shape);

/// Trials of a stream among whose values of train.batch dev would choose: its lanes are part of what it tells.
std::vector<Diagnostic> check_lanes(const Study& study, const OfTask<TaskShape>& shape);

/// Whether one of the trial's attentions has to be spared padded sequences.
bool refuses_padding(const Trial& trial, const Catalog& catalog, const PromisesOf& promises);

/// Why torch cannot compute on a device, or there with mixed products; "" where it can.
using DeviceRefusal = std::function<std::string(const std::string& device, bool mixed)>;

/// Reports every device that cannot be opened, and mixed products that there are not. @param refusal asked once for each, never
/// for a CPU's float32. What it throws goes through.
std::vector<Diagnostic> check_devices(const Study& study, const DeviceRefusal& refusal);

}  // namespace ablate
