// A compression that fails on demand: one slot a token, no compression at all, until it goes wrong.
#include <ATen/ATen.h>

#include <stdexcept>

#include "ablate/compression.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::text("fault", "\"none\"",
                 "none|factory|write|read|on-step|wrong-shape|no-values|one-head|too-many-slots|wrong-type|one-mass|odd-slots",
                 "where it throws, or what it returns"),
};

class FaultyCompression : public ablate::Compression {
 public:
  explicit FaultyCompression(const ablate::CompressionContext& context) : fault_(context.parameters.text("fault")) {
    throw_at("factory");
  }
  ablate::Memory write(const torch::Tensor& keys, const torch::Tensor& values, const torch::Tensor&) override {
    throw_at("write");
    ablate::Memory memory{keys, values, {}, {}};
    if (fault_ == "no-values") memory.values = torch::Tensor();
    if (fault_ == "one-head") memory.values = values.slice(1, 0, 1).slice(3, 0, 1);
    if (fault_ == "too-many-slots") memory.keys = at::cat({keys, keys}, 2);
    if (fault_ == "wrong-type") memory.values = values.to(at::kDouble);
    if (fault_ == "one-mass") memory.mass = at::ones({1, 1, 1}, values.options());
    if (fault_ == "odd-slots") memory.slots = at::ones({keys.size(0), keys.size(2)}, values.options().dtype(at::kBool));
    return memory;
  }
  torch::Tensor read(const torch::Tensor& queries, const ablate::Memory& memory, ablate::Similarity) override {
    throw_at("read");
    const auto read = queries.matmul(memory.keys.transpose(-1, -2)).softmax(-1).matmul(memory.values);
    return fault_ == "wrong-shape" ? read.slice(2, 0, 1) : read;
  }
  void on_step(std::int64_t) override { throw_at("on-step"); }

 private:
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
