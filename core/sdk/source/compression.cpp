#include "ablate/compression.h"

#include "found.h"

namespace ablate {
namespace {

/// Expected form of the results of one call of a compression.
class Expectation {
 public:
  Expectation(const std::string& id, const char* call) : id_(id), call_(call) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("compression " + id_ + ": its " + call_ + "() returned " + what);
  }

  void expect(const char* name, const Tensor& found, IntArrayRef sizes, const TensorOptions& options, const char* axes) const {
    const auto type = c10::typeMetaToScalarType(options.dtype());
    if (found.defined() && found.sizes() == sizes && found.scalar_type() == type && found.device() == options.device()) return;
    fail(c10::str(found.defined() ? name + (" of " + shape_text(found)) : "no " + std::string(name), ", expected ", type, " ",
                  sizes, " on ", options.device(), " (", axes, ")"));
  }

 private:
  const std::string& id_;
  const char* call_;
};

/// Checks mass and slots, which a memory may leave out. Slots are the same for all heads. Mass may differ by head.
void check_mass(const Expectation& expected, const Memory& memory, std::vector<std::int64_t> sizes, const char* axes,
                const Tensor& mask) {
  const auto options = memory.values.options();
  const std::vector<std::int64_t> exist{sizes[0], 1, sizes[2]};
  if (memory.mass.defined()) {
    if (memory.mass.dim() > 1 && memory.mass.size(1) == 1) sizes[1] = 1;
    expected.expect("mass", memory.mass, sizes, options, axes);
  }
  if (!memory.slots.defined()) return;
  if (!mask.defined()) expected.fail("slots of " + shape_text(memory.slots) + " for a sequence without padding, expected none");
  expected.expect("slots", memory.slots, exist, options.dtype(kBool), "batch, 1, slots");
}

}  // namespace

Memory Compression::write(const WriteInput& input) {
  if (input.held != nullptr && !promises_.extends)
    throw std::logic_error("compression " + id_ + " does not promise to extend a memory");
  auto memory = do_write(input);
  const Expectation expected(id_, "write");
  const auto &keys = input.keys, &values = input.values;
  const auto batch = values.size(0), heads = values.size(1), slots = slots_.of(values.size(2));
  const auto options = values.options();
  if (promises_.causal_reads && input.held == nullptr)
    expected.expect("last", memory.last, {slots}, options.dtype(kLong), "slots");
  if (promises_.slots_have_keys) {
    expected.expect("keys", memory.keys, {batch, heads, slots, keys.size(3)}, options, "batch, heads, slots, d_key");
    expected.expect("values", memory.values, {batch, heads, slots, values.size(3)}, options, "batch, heads, slots, d_value");
  } else {
    if (memory.keys.defined())
      expected.fail("keys of " + shape_text(memory.keys) + ", and it does not promise slots_have_keys");
    const auto width = values.size(3);
    const auto columns = memory.values.defined() && memory.values.dim() == 4 ? memory.values.size(3) / width : 1;
    expected.expect("values", memory.values, {batch, heads, slots, std::max<std::int64_t>(columns, 1) * width}, options,
                    "batch, heads, slots, columns * d_value");
    if (columns > 1) {
      check_mass(expected, memory, {batch, heads, slots, columns}, "batch, heads or 1, slots, columns", input.mask);
      return memory;
    }
  }
  check_mass(expected, memory, {batch, heads, slots}, "batch, heads or 1, slots", input.mask);
  return memory;
}

ReadOutput Compression::read(const ReadInput& input) {
  if (input.causal && !promises_.causal_reads) throw std::logic_error("compression " + id_ + " does not promise causal reads");
  auto result = do_read(input);
  const auto &queries = input.queries, &mass = input.memory.mass;
  const bool has_columns = mass.defined() && mass.dim() == 4;
  const auto width = input.memory.values.size(3) / (has_columns ? mass.size(3) : 1);
  Expectation(id_, "read")
      .expect("a result", result.values, {queries.size(0), queries.size(1), queries.size(2), width}, queries.options(),
              "batch, heads, queries, d_value");
  if (result.usage.defined() &&
      (result.usage.dim() != 3 || result.usage.size(0) != queries.size(0) || result.usage.size(1) != queries.size(1)))
    throw std::runtime_error("compression " + id_ + ": its read() returned a usage of " + shape_text(result.usage) +
                             ", expected batch, heads, entries");
  if (result.auxiliary_loss.defined() && result.auxiliary_loss.dim() != 0)
    throw std::runtime_error("compression " + id_ + ": its read() returned an auxiliary loss of " +
                             shape_text(result.auxiliary_loss) + ", expected a scalar");
  return result;
}

void refuse_idle_similarity(const Compression& compression, const std::string& parameter, Similarity chosen, Similarity usual) {
  if (!compression.follows_similarity() && chosen != usual)
    throw std::invalid_argument(parameter + " is not used here: the compression has a kernel of its own; leave " + parameter +
                                " out");
}

}  // namespace ablate
