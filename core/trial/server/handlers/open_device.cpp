#include "core/trial/device/device.h"
#include "core/trial/server/handlers/handlers.h"
#include "core/trial/training/precision.h"

namespace ablate {
namespace {

OpenedDevice do_open_device(LoadedParts&, const OpenDeviceJob& job) {
  open_device(job.device);
  check_products(job.mixed);
  return {.opened = true};
}

}  // namespace

const NamedHandler handlers::open_device = handler<OpenDeviceJob, do_open_device>();

}  // namespace ablate
