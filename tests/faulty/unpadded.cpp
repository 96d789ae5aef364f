// An attention that does not promise key_padding. A grid that needs padded sequences is refused before the attention is made.
#include "ablate/plugin.h"

namespace {

constexpr ablate::Descriptor described() {
  auto descriptor = ablate::detail::describe(ablate::Kind::kAttention,
                                             {.id = FIXTURE_ID, .version = "1.0.0", .summary = "takes no padded sequence"});
  descriptor.make_attention = [](const ablate::AttentionContext&) { return std::shared_ptr<ablate::Attention>(); };
  return descriptor;
}
constexpr auto unpadded_descriptor = described();

}  // namespace

ABLATE_EXPORT_PLUGIN(unpadded_descriptor)
