// A module refuses parameters that an optimiser cannot move, and buffers that require a gradient.
#include "ablate/module.h"

#include "tests/support/catch.h"
#include "tests/support/says.h"

using namespace ablate;

namespace {

struct Open : Module {
  using Module::register_buffer;
  using Module::register_parameter;
};

/// Returns the message of a refusal; "" if nothing was refused.
template <class Act>
std::string refusal(const Act& act) {
  try {
    act();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a parameter that is computed from others is refused with the remedy, because no optimiser moves it") {
  Open module;
  const auto source = module.register_parameter("source", ones({2}));
  const auto computed = refusal([&] { module.register_parameter("twice", source * 2); });
  CHECK(says(computed, "the parameter \"twice\""));
  CHECK(says(computed, "expected a leaf: make it under a NoGradGuard, or register its detach()"));
  CHECK(says(refusal([&] { module.register_parameter("part", source.narrow(0, 0, 1)); }), "the parameter \"part\""));
  CHECK(module.parameters().size() == 1);
  CHECK(refusal([&] { module.register_parameter("detached", (source * 2).detach()); }) == "");
  const NoGradGuard none;
  CHECK(refusal([&] { module.register_parameter("beside", source * 2); }) == "");
  for (const auto& entry : module.parameters()) CHECK((entry.tensor.is_leaf() && entry.tensor.requires_grad()));
}

TEST_CASE("a parameter of whole numbers, and a buffer that requires a gradient, are refused") {
  Open module;
  CHECK(says(refusal([&] { module.register_parameter("places", ones({2}, kLong)); }),
             "the parameter \"places\" of Long, expected a floating-point type"));
  CHECK(says(refusal([&] { module.register_parameter("none", {}); }), "\"none\", which is undefined"));
  CHECK(says(refusal([&] { module.register_buffer("sum", ones({2}).requires_grad_() * 2); }),
             "the buffer \"sum\", which asks for a gradient"));
  CHECK(refusal([&] { module.register_buffer("places", ones({2}, kLong)); }) == "");
  CHECK(module.parameters().empty());
}
