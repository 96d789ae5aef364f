// The jobs of a study (core/shared/jobs.h), a file each.
#pragma once

#include "core/trial/server/loaded.h"
#include "core/trial/server/server.h"

namespace ablate {

Inspected inspect(LoadedParts& loaded, const InspectJob& job);
DescribedTask describe_task(LoadedParts& loaded, const DescribeTaskJob& job);
PreparedTask prepare_task(LoadedParts& loaded, const PrepareTaskJob& job);
Promised promised(LoadedParts& loaded, const PromisesJob& job);
TriedPlaces try_places(LoadedParts& loaded, const TryPlacesJob& job);
OpenedDevice try_device(LoadedParts& loaded, const OpenDeviceJob& job);
void do_trial(LoadedParts& loaded, const TrialJob& job, const Say& say);

}  // namespace ablate
