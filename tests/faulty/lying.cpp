// A library with a wrong descriptor. CHANGE is a statement that makes the correct `descriptor` wrong. In the fixture
// infinite_bound, CHANGE does nothing, and the library is accepted.
#include <limits>

#include "trivial_task.h"

namespace {

constexpr ablate::Parameter parameters[] = {ablate::real("size", "1", {0, std::numeric_limits<double>::infinity()}, "any")};

constexpr ablate::Descriptor changed() {
  auto descriptor = ablate::detail::describe(
      ablate::Kind::kTask, {.id = FIXTURE_ID, .version = "1.0.0", .summary = "lies", .parameters = parameters});
  descriptor.make_task = [](const ablate::TaskContext& context) -> std::unique_ptr<ablate::Task> {
    return std::make_unique<TrivialTask>(context);
  };
  CHANGE;
  return descriptor;
}
constexpr auto lying_descriptor = changed();

}  // namespace

ABLATE_EXPORT_PLUGIN(lying_descriptor)
