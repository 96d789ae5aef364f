#include "core/trial/device/device.h"
#include "core/trial/server/handlers/handlers.h"

namespace ablate {

OpenedDevice try_device(LoadedParts&, const OpenDeviceJob& job) {
  open_device(job.device);
  return {.opened = true};
}

}  // namespace ablate
