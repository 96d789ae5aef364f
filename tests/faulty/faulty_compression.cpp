// A compression that fails on demand. Each token has its own slot.
#include <stdexcept>

#include "ablate/compression.h"

namespace {

using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::text("fault", "\"none\"",
                 "none|factory|write|read|on-step|wrong-shape|no-values|one-head|too-many-slots|wrong-type|one-mass|odd-slots",
                 "where it throws, or what it returns"),
};

class FaultyCompression final : public ablate::Compression {
 public:
  explicit FaultyCompression(const ablate::CompressionContext& context)
      : Compression(context), fault_(context.parameters.text("fault")) {
    throw_at("factory");
  }

 private:
  ablate::Memory do_write(const ablate::WriteInput& input) override {
    throw_at("write");
    const auto &keys = input.keys, &values = input.values;
    ablate::Memory memory{.keys = keys, .values = values};
    if (fault_ == "no-values") memory.values = Tensor();
    if (fault_ == "one-head") memory.values = values.slice(1, 0, 1).slice(3, 0, 1);
    if (fault_ == "too-many-slots") memory.keys = ablate::cat({keys, keys}, 2);
    if (fault_ == "wrong-type") memory.values = values.to(ablate::kDouble);
    if (fault_ == "one-mass") memory.mass = ablate::ones({1, 1, 1}, values.options());
    if (fault_ == "odd-slots") memory.slots = ablate::ones({keys.size(0), keys.size(2)}, values.options().dtype(ablate::kBool));
    return memory;
  }
  ablate::ReadOutput do_read(const ablate::ReadInput& input) override {
    throw_at("read");
    const auto& memory = input.memory;
    const auto read = input.queries.matmul(memory.keys.transpose(-1, -2)).softmax(-1).matmul(memory.values);
    return {.values = fault_ == "wrong-shape" ? read.slice(2, 0, 1) : read};
  }
  void do_step(std::int64_t, const ablate::Generator&) override { throw_at("on-step"); }

  void throw_at(const std::string& here) const {
    if (here == fault_) throw std::runtime_error(here + " has thrown, as it was asked to");
  }

  std::string fault_;
};

}  // namespace

ABLATE_COMPRESSION(FaultyCompression, {.id = "faulty-compression",
                                       .version = "1.0.0",
                                       .summary = "fails on demand",
                                       .capabilities = {.slots_have_keys = true},
                                       .parameters = parameters})
