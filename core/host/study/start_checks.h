// The checks of a study that need to know more than its text and its plugins: the tasks' data and this machine.
#pragma once

#include <cstdint>
#include <functional>

#include "core/host/study/study.h"

namespace ablate {

/// What the study's tasks said, by a trial's resolved [task]. What it throws goes through.
template <class Answer>
using OfTask = std::function<Answer(const nlohmann::json& task_section)>;

/// Where the first of some paths is that the trial sets; of the file as a whole where it sets none.
Location where_of(const Study& study, const Trial& trial, std::initializer_list<std::string> paths);

/// Reports every compression rate that leaves less than one slot of a sequence (rate * length < 1), in the order of the file.
/// @param length tokens of the task's longest sequence
std::vector<Diagnostic> check_rates(const Study& study, const Catalog& catalog, const OfTask<std::int64_t>& length);

/// Reports every plugin that promises multiples of some length only, where sequences have another (with pooling = "cls" one
/// token more than the task's).
std::vector<Diagnostic> check_lengths(const Study& study, const Catalog& catalog, const OfTask<std::int64_t>& length);

/// Whether one of the trial's attentions has to be spared padded sequences.
bool refuses_padding(const Trial& trial, const Catalog& catalog);

/// Reports every attention that does not promise key_padding beside a task that has sequences of several lengths.
/// @param padded whether it has; asked only where refuses_padding
std::vector<Diagnostic> check_padding(const Study& study, const Catalog& catalog, const OfTask<bool>& padded);

/// Reports every device that cannot be opened. @param refusal why a device cannot, "" where it can; asked once for each that is
/// not the CPU. What it throws goes through.
std::vector<Diagnostic> check_devices(const Study& study, const std::function<std::string(const std::string& device)>& refusal);

}  // namespace ablate
