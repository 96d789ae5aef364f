#include "core/shared/sizes_job.h"

#include <limits>

#include "core/shared/message_json.h"

namespace ablate {

void fields(auto& f, Is<CountSizesJob> auto& m) {
  fields(f, m.libraries);
  f("models", m.models);
}

void fields(auto& f, Is<CountedSizes::Sizes> auto& m) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  f("parameters", m.parameters, 0, kMost);
  f("state_bytes", m.state_bytes, 0, kMost);
  f("refused", m.refused);
}

void fields(auto& f, Is<CountedSizes> auto& m) {
  f("files", m.files);
  f("sizes", m.sizes);
}

namespace {

[[maybe_unused, gnu::used]] constexpr auto kSizesJob = json_of<CountSizesJob, CountedSizes>();

}  // namespace

}  // namespace ablate
