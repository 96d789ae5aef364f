#include "ablate/straight_through.h"

#include "ablate/surrogate.h"

namespace ablate {

Tensor straight_through(const Tensor& hard, const Tensor& soft) {
  auto* const surrogate = Surrogate::current();
  if (surrogate != nullptr && surrogate->replays) {
    const auto& held = surrogate->calls.at(surrogate->next++);
    return held.hard + (soft - held.soft);
  }
  if (surrogate != nullptr) surrogate->calls.push_back({hard.detach(), soft.detach()});
  return hard.detach() + (soft - soft.detach());
}

Tensor frozen(const Tensor& x) {
  if (Surrogate::current() == nullptr) return x.detach();
  // Copies x, because a later change of a parameter in place would also change the record.
  return straight_through(x.detach().clone(), zeros_like(x.detach()));
}

}  // namespace ablate
