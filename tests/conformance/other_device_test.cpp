// The suite on a simulated device: its tensors are in CPU memory, but report another device. As on a GPU, an operation that
// mixes both devices throws. Results must equal the results on the CPU.
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstring>

#include "ablate/headwise.h"
#include "core/registry/library.h"
#include "core/trial/conformance/plugin/device_checks.h"
#include "tests/conformance/means.h"

using namespace ablate;

namespace {

constexpr auto kType = c10::DeviceType::PrivateUse1;
const c10::Device kThere(kType, 0);

struct Memory_ final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    auto here = c10::GetCPUAllocator()->allocate(bytes);
    auto* const data = here.get();
    const auto deleter = here.get_deleter();
    return {data, here.release_context(), deleter, kThere};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
};
Memory_ memory;

struct Guard final : c10::impl::NoOpDeviceGuardImpl<kType> {
  c10::Device exchangeDevice(c10::Device) const override { return kThere; }
  c10::Device getDevice() const override { return kThere; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void synchronizeDevice(c10::DeviceIndex) const override {}
  c10::Stream getStream(c10::Device) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, kThere); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return getStream(kThere); }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    static const auto generator = make_generator(1);
    return generator;
  }
};

/// Returns the same memory as a CPU tensor.
Tensor here(const Tensor& x) {
  if (x.is_cpu()) return x;
  return at::from_blob(x.data_ptr(), x.sizes(), x.strides(), TensorOptions(x.scalar_type()));
}

Tensor make_empty(at::IntArrayRef sizes, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                  std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, &memory, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), type.value_or(kFloat),
                                   format);
}
Tensor make_strided(at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<at::ScalarType> type,
                    std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(sizes, strides, &memory, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           type.value_or(kFloat));
}
Tensor copy_from(const Tensor& from, const Tensor& to, bool) {
  here(to).copy_(here(from));
  return to;
}
Tensor copy_and_resize(const Tensor& from, const Tensor& to) {
  if (!from.sizes().equals(to.sizes())) {
    const auto fresh = make_empty(from.sizes(), from.scalar_type(), {}, {}, {}, {});
    to.unsafeGetTensorImpl()->set_storage_keep_dtype(fresh.storage());
    to.unsafeGetTensorImpl()->set_sizes_contiguous(from.sizes());
  }
  return copy_from(from, to, false);
}
void by_the_cpu(const c10::OperatorHandle& operation, torch::jit::Stack* stack) { at::native::cpu_fallback(operation, stack); }
Tensor reshaped(const Tensor& x, at::IntArrayRef sizes, at::IntArrayRef strides) {
  return at::native::as_strided_tensorimpl(x, sizes, strides);
}
bool are_compatible(const Tensor&, const Tensor&) { return true; }

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) { library.fallback(torch::CppFunction::makeFromBoxedFunction<&by_the_cpu>()); }
TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", make_empty);
  library.impl("empty_strided", make_strided);
  library.impl("_copy_from", copy_from);
  library.impl("_copy_from_and_resize", copy_and_resize);
  library.impl("_has_compatible_shallow_copy_type", are_compatible);
  library.impl("as_strided", at::native::as_strided_tensorimpl);
  library.impl("view", at::native::view);
  library.impl("_reshape_alias", reshaped);
  library.impl("unfold", at::native::unfold);
}

const Descriptor& plugin(const std::string& id) { return load_library(ABLATE_BUILD_DIR "/lib/ablate/plugins/" + id + ".so"); }

/// Returns the failed checks of a small run on the simulated device. Leaves out training: its dropout would use the CPU's
/// generator, but a training saves the device's generator.
std::set<std::string> failing(const Descriptor& descriptor, const std::vector<const Descriptor*>& parts = {}) {
  static const bool registered = [] {
    static Hooks hooks;
    c10::register_privateuse1_backend("elsewhere");
    at::RegisterPrivateUse1HooksInterface(&hooks);
    return true;
  }();
  static_cast<void>(registered);
  auto candidate = candidates(descriptor, nlohmann::json::object(), parts).front();
  candidate.device = kThere;
  Checks checks;
  candidate.kind == Kind::kAttention ? check_attention(candidate, Depth::kSmall, checks)
                                     : check_compression(candidate, Depth::kSmall, checks);
  std::set<std::string> names;
  for (const auto& check : checks.all()) {
    if (!check.failed()) continue;
    UNSCOPED_INFO(descriptor.id << ", " << check.name << ": " << check.found);
    names.insert(check.name);
  }
  return names;
}

/// Uses positions that are always on the CPU.
class Stays final : public HeadwiseAttention {
 public:
  explicit Stays(const AttentionContext& context) : HeadwiseAttention(context, 2) {}

 private:
  HeadOutput attend(const HeadInput& input) override {
    const auto scores = input.q.matmul(input.k.transpose(-1, -2));
    return {.values = (scores + arange(scores.size(3)).to(scores.scalar_type()) * 0.1).softmax(-1).matmul(input.v)};
  }
};

}  // namespace

TEST_CASE("the suite passes right plugins on another device", "[conformance]") {
  for (const auto* id : {"softmax", "linear", "segment-mean", "clustering"}) {
    INFO(id);
    CHECK(failing(plugin(id)).empty());
  }
  CHECK(failing(plugin("adamra"), {&plugin("segment-mean")}).empty());
}

TEST_CASE("a plugin that mixes devices fails on another device only", "[conformance]") {
  const auto stays = tests::attention_of<Stays>({.id = "stays", .version = "1.0.0", .summary = "positions of the CPU"});
  const auto found = failing(stays);
  CHECK(found.count("lengths") == 1);
  CHECK(found.count("cuda") == 1);
  tests::Record record;
  CHECK(record.suite(stays, {"lengths", "gradient", "cuda"}).empty());
}
