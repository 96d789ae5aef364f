#include "core/trial/model/checked_compression.h"

#include <c10/util/StringUtil.h>
#include <fmt/format.h>

#include <utility>

#include "core/util/error.h"

namespace ablate {
namespace {

using torch::Tensor;

class CheckedCompression final : public Compression {
 public:
  CheckedCompression(std::shared_ptr<Compression> inner, std::string id, Rate rate, bool slots_have_keys)
      : inner_(std::move(inner)), id_(std::move(id)), rate_(rate), slots_have_keys_(slots_have_keys) {
    // The tensors are shared, not copied: whoever changes one changes both.
    for (const auto& child : inner_->named_children()) register_module(child.key(), child.value());
    for (const auto& parameter : inner_->named_parameters(false))
      register_parameter(parameter.key(), parameter.value(), parameter.value().requires_grad());
    for (const auto& buffer : inner_->named_buffers(false)) register_buffer(buffer.key(), buffer.value());
  }

  Memory write(const Tensor& keys, const Tensor& values, const Tensor& mask) override {
    auto memory = inner_->write(keys, values, mask);
    const auto batch = values.size(0), heads = values.size(1), slots = rate_.slots(values.size(2));
    const auto options = values.options();
    if (slots_have_keys_) {
      expect("write", "keys", memory.keys, {batch, heads, slots, keys.size(3)}, options, "batch, heads, slots, d_key");
      expect("write", "values", memory.values, {batch, heads, slots, values.size(3)}, options, "batch, heads, slots, d_value");
    } else {
      if (memory.keys.defined())
        throw wrong("write", "keys of " + text(memory.keys) + ", and it does not promise slots_have_keys");
      const auto width = values.size(3);
      const auto columns = memory.values.defined() && memory.values.dim() == 4 ? memory.values.size(3) / width : 1;
      expect("write", "values", memory.values, {batch, heads, slots, std::max<std::int64_t>(columns, 1) * width}, options,
             "batch, heads, slots, columns * d_value");
      if (columns > 1)
        return with_mass(std::move(memory), {batch, heads, slots, columns}, "batch, heads or 1, slots, columns", mask);
    }
    return with_mass(std::move(memory), {batch, heads, slots}, "batch, heads or 1, slots", mask);
  }

  Tensor read(const Tensor& queries, const Memory& memory, Similarity similarity) override {
    auto result = inner_->read(queries, memory, similarity);
    const bool has_columns = memory.mass.defined() && memory.mass.dim() == 4;
    const auto width = memory.values.size(3) / (has_columns ? memory.mass.size(3) : 1);
    expect("read", "a result", result, {queries.size(0), queries.size(1), queries.size(2), width}, queries.options(),
           "batch, heads, queries, d_value");
    return result;
  }

  void on_step(std::int64_t step) override { inner_->on_step(step); }
  void train(bool on) override {
    Compression::train(on);
    inner_->train(on);
  }
  void to(torch::Device device, torch::Dtype type, bool non_blocking) override { inner_->to(device, type, non_blocking); }
  void to(torch::Dtype type, bool non_blocking) override { inner_->to(type, non_blocking); }
  void to(torch::Device device, bool non_blocking) override { inner_->to(device, non_blocking); }
  void save(torch::serialize::OutputArchive& archive) const override { inner_->save(archive); }
  void load(torch::serialize::InputArchive& archive) override { inner_->load(archive); }

 private:
  static std::string text(const Tensor& tensor) {
    return c10::str(tensor.scalar_type(), " ", tensor.sizes(), " on ", tensor.device());
  }

  Error wrong(const char* call, const std::string& what) const {
    return Error(fmt::format("compression {}: its {}() returned {}", id_, call, what), ExitCode::kPlugin);
  }

  void expect(const char* call, const char* name, const Tensor& found, at::IntArrayRef sizes,
              const torch::TensorOptions& options, const char* axes) const {
    const auto type = c10::typeMetaToScalarType(options.dtype());
    if (found.defined() && found.sizes() == sizes && found.scalar_type() == type && found.device() == options.device()) return;
    throw wrong(call, fmt::format("{}, expected {} ({})",
                                  found.defined() ? fmt::format("{} of {}", name, text(found)) : fmt::format("no {}", name),
                                  c10::str(type, " ", sizes, " on ", options.device()), axes));
  }

  /// Mass and slots, which a memory may lack; both may be the same for all heads.
  Memory with_mass(Memory memory, std::vector<std::int64_t> sizes, const char* axes, const Tensor& mask) const {
    const auto options = memory.values.options();
    const std::vector<std::int64_t> exist{sizes[0], 1, sizes[2]};
    if (memory.mass.defined()) {
      if (memory.mass.dim() > 1 && memory.mass.size(1) == 1) sizes[1] = 1;
      expect("write", "mass", memory.mass, sizes, options, axes);
    }
    if (memory.slots.defined()) {
      if (!mask.defined())
        throw wrong("write", "slots of " + text(memory.slots) + " for a sequence without padding, expected none");
      expect("write", "slots", memory.slots, exist, options.dtype(torch::kBool), "batch, 1, slots");
    }
    return memory;
  }

  std::shared_ptr<Compression> inner_;
  std::string id_;
  Rate rate_;
  bool slots_have_keys_;
};

}  // namespace

std::shared_ptr<Compression> checked(std::shared_ptr<Compression> compression, const std::string& id, Rate rate,
                                     bool slots_have_keys) {
  return std::make_shared<CheckedCompression>(std::move(compression), id, rate, slots_have_keys);
}

}  // namespace ablate
