#include "tests/trial/recording_double.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <stdexcept>
#include <utility>
#include <vector>

namespace ablate::tests {
namespace {

using at::Tensor;

/// Dispatch key below autograd and above all computing keys. Nothing else uses it.
constexpr auto kKey = c10::DispatchKey::Fake;

struct Call {
  c10::OperatorHandle operation;
  std::vector<c10::IValue> arguments, results;
};

/// State of a recording in progress. Operations of backward passes are recorded, too, also from other threads.
struct Recording {
  Planted planted;
  std::vector<Call> calls = {};
  std::vector<std::pair<Tensor, Tensor>> before = {};  ///< overwritten tensors and their earlier values
};
Recording* in_progress = nullptr;

template <class Act>
void each_tensor(const c10::IValue& value, const Act& act) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) act(value.toTensor());
  } else if (value.isTensorList()) {
    for (const Tensor& one : value.toTensorList()) act(one);
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<Tensor>& one : value.toOptionalTensorList())
      if (one) act(*one);
  }
}

std::vector<Tensor> tensors_of(const std::vector<c10::IValue>& values) {
  std::vector<Tensor> all;
  for (const auto& value : values) each_tensor(value, [&](const Tensor& one) { all.push_back(one); });
  return all;
}

bool is_of(const Tensor& tensor, const std::vector<Tensor>& others) {
  return std::any_of(others.begin(), others.end(),
                     [&](const Tensor& other) { return other.storage().is_alias_of(tensor.storage()); });
}

/// Plants kOwnInputs or kStaleRate: replaces a batch's ids, or the learning rate, by copies that later writes do not change.
std::vector<c10::IValue> with_planted(const c10::OperatorHandle& operation, std::vector<c10::IValue> arguments,
                                      Planted planted) {
  const auto& name = operation.schema().name();
  if (planted == Planted::kOwnInputs && name.starts_with("aten::embedding"))
    for (auto& one : arguments)
      if (one.isTensor() && one.toTensor().defined() && one.toTensor().scalar_type() == at::kLong) one = one.toTensor().clone();
  if (planted == Planted::kStaleRate && name == "aten::_fused_adamw_")
    for (auto& one : arguments)
      if (one.isTensor() && one.toTensor().defined() && one.toTensor().dim() == 0) one = one.toTensor().clone();
  return arguments;
}

void write_down(const c10::OperatorHandle& operation, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard guard(kKey);
  const auto& schema = operation.schema();
  for (const char* waits : {"aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::equal"})
    if (schema.name() == waits) throw std::runtime_error(schema.name() + " waits for the device, which cannot be recorded");
  const std::vector<c10::IValue> arguments(stack->end() - static_cast<std::ptrdiff_t>(schema.arguments().size()), stack->end());
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const auto* alias = schema.arguments()[i].alias_info(); alias != nullptr && alias->isWrite())
      each_tensor(arguments[i],
                  [](const Tensor& one) { in_progress->before.emplace_back(one.variable_data(), one.detach().clone()); });
  auto stored = with_planted(operation, arguments, in_progress->planted);
  operation.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kKey), stack);
  const std::vector<c10::IValue> results(stack->end() - static_cast<std::ptrdiff_t>(schema.returns().size()), stack->end());
  in_progress->calls.push_back({operation, std::move(stored), results});
}

class DoubleRecorded final : public Recorded {
 public:
  DoubleRecorded(std::vector<Call> calls, Planted planted)
      : calls_(std::move(calls)), planted_(planted), first_draws_(at::globalContext().defaultGenerator(at::kCPU).get_state()) {}

  /// Writes without autograd's knowledge, as a device does.
  void replay() override {
    const c10::NoGradGuard no_grad;
    const at::AutoDispatchBelowADInplaceOrView below;
    auto generator = at::globalContext().defaultGenerator(at::kCPU);
    ++replays_;
    if (planted_ == Planted::kSameDraws || (planted_ == Planted::kLateSameDraws && replays_ >= 5))
      generator.set_state(first_draws_);
    for (const auto& call : calls_) {
      torch::jit::Stack stack = call.arguments;
      call.operation.callBoxed(&stack);
      const auto given = tensors_of(call.arguments), made = tensors_of(call.results), now = tensors_of(stack);
      TORCH_CHECK(made.size() == now.size());
      for (std::size_t i = 0; i < made.size(); ++i)
        if (!is_of(made[i], given)) made[i].variable_data().copy_(now[i]);
    }
  }

 private:
  std::vector<Call> calls_;
  Planted planted_;
  Tensor first_draws_;
  int replays_ = 0;
};

class Double final : public WorkRecorder {
 public:
  explicit Double(Planted planted) : planted_(planted) {}

  std::unique_ptr<Recorded> record(const std::function<void()>& act) override {
    auto generator = at::globalContext().defaultGenerator(at::kCPU);
    const auto drawn = generator.get_state();
    Recording recording{planted_};
    const auto undo = [&] {
      const c10::NoGradGuard no_grad;
      in_progress = nullptr;
      for (auto one = recording.before.rbegin(); one != recording.before.rend(); ++one) one->first.copy_(one->second);
      generator.set_state(drawn);
    };
    in_progress = &recording;
    try {
      const c10::impl::IncludeDispatchKeyGuard guard(kKey);
      act();
    } catch (...) {
      undo();
      throw;
    }
    undo();
    const c10::NoGradGuard no_grad;
    for (const auto& call : recording.calls)
      for (auto& made : tensors_of(call.results))
        if (at::isFloatingType(made.scalar_type()) && !is_of(made, tensors_of(call.arguments)))
          made.variable_data().fill_(std::numeric_limits<double>::quiet_NaN());
    return std::make_unique<DoubleRecorded>(std::move(recording.calls), planted_);
  }

 private:
  Planted planted_;
};

}  // namespace

std::unique_ptr<WorkRecorder> recording_double(Planted planted) { return std::make_unique<Double>(planted); }

}  // namespace ablate::tests

TORCH_LIBRARY_IMPL(_, Fake, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&ablate::tests::write_down>());
}
