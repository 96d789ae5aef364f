#include <ATen/Context.h>

#include <algorithm>

#include "core/trial/device/device.h"
#include "tests/support/catch.h"

namespace {

using at::SDPBackend;
using Order = std::vector<SDPBackend>;

Order order_of(std::int64_t capability) {
  Order all;
  for (const auto number : ablate::attention_order(capability)) all.push_back(static_cast<SDPBackend>(number));
  return all;
}

}  // namespace

TEST_CASE("cuDNN's attention is asked first on 9.0 alone, and each form once") {
  const auto here = at::globalContext().sDPPriorityOrder();
  const Order torch(here.begin(), here.end());
  auto first = torch;
  std::stable_partition(first.begin(), first.end(), [](auto form) { return form == SDPBackend::cudnn_attention; });
  REQUIRE(first.size() == at::num_sdp_backends);
  CHECK((order_of(90) == first));
  for (const auto other : {0, 80, 89, 100, 120}) CHECK((order_of(other) == torch));
}

TEST_CASE("without a driver no compute capability is known") {
  if (ablate::cuda_driver_present()) return;
  CHECK(ablate::compute_capability(0) == 0);
}
