// A library that, while it is loaded, changes all settings of the process that affect bits of results. Its trials are correct.
#include <ATen/Context.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <pthread.h>
#include <stdlib.h>

#include <cfenv>

#include "ablate/headwise.h"

namespace {

void meddle() {
  std::fesetround(FE_UPWARD);
  at::globalContext().setFlushDenormal(true);
  at::globalContext().setFloat32MatmulPrecision("medium");
  at::globalContext().setUserEnabledMkldnn(false);
  at::globalContext().setSDPUseFlash(false);
  c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
  c10::GradMode::set_enabled(false);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  setenv("MKL_CBWR", "COMPATIBLE", 1);
}

[[maybe_unused]] const int done = [] {
  meddle();
  new c10::InferenceMode();  // is never ended
  pthread_atfork(nullptr, nullptr, meddle);
  return 0;
}();

class Values final : public ablate::HeadwiseAttention {
 public:
  explicit Values(const ablate::AttentionContext& context) : HeadwiseAttention(context, 1) {}

 private:
  ablate::HeadOutput attend(const ablate::HeadInput& input) override { return {.values = input.v}; }
};

}  // namespace

ABLATE_ATTENTION(Values, {.id = "meddle-numbers",
                          .version = "1.0.0",
                          .summary = "meddles while it is loaded",
                          .capabilities = {.key_padding = true}})
