#include "core/trial/conformance/compression/subject.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <span>
#include <stdexcept>

#include "core/util/rate_text.h"

namespace ablate {
namespace {

constexpr Rate kRatesFull[] = {{1, 1}, {1, 2}, {1, 3}, {2, 5}, {3, 4}, kSixteenth, kLowest};
constexpr Rate kRatesSmall[] = {{1, 1}, {1, 3}, {2, 5}};

}  // namespace

std::string CompressionSetting::text() const {
  const auto how = slots.fixed > 0 ? fmt::format("{} slots", slots.fixed) : "rate " + to_text(slots.rate);
  const auto heads = shape.heads == HeadShape().heads ? "" : fmt::format(", {} heads", shape.heads);
  return fmt::format("{}, {}{}{}", how, name_of(type), training ? ", in training" : "", heads);
}

CompressionSubject::CompressionSubject(Candidate candidate, Depth depth) : Subject(std::move(candidate), depth) {
  for (const auto rate : full() ? std::span<const Rate>(kRatesFull) : std::span<const Rate>(kRatesSmall)) {
    try {
      make({.slots = {rate}});
    } catch (const std::invalid_argument& refusal) {
      refusals_ += fmt::format("{}rate {} refused: {}", refusals_.empty() ? "" : "; ", to_text(rate), refusal.what());
      continue;
    } catch (...) {  // the checks report this fault
    }
    rates_.push_back(rate);
  }
}

bool CompressionSubject::takes(Rate rate) const { return std::find(rates_.begin(), rates_.end(), rate) != rates_.end(); }

Slots CompressionSubject::usual() const {
  if (takes({1, 3})) return {{1, 3}};
  const auto below = std::find_if(rates_.begin(), rates_.end(), [](Rate rate) { return rate.value() < 1; });
  return {below != rates_.end() ? *below : Rate{1, 3}};
}

Slots CompressionSubject::uneven() const { return takes({2, 5}) ? Slots{{2, 5}} : usual(); }

std::optional<Slots> CompressionSubject::long_segments() const try {
  const Slots slots{{1, 300}};
  make({.slots = slots, .longest = 900});
  return slots;
} catch (const std::invalid_argument&) {
  return {};
}

std::vector<CompressionSetting> CompressionSubject::settings(const Slots& slots, std::int64_t longest) const {
  std::vector<CompressionSetting> all;
  for (const auto type : types())
    for (const bool training : {false, true}) all.push_back({slots, type, training, longest});
  return all;
}

CompressionInstance CompressionSubject::make(const CompressionSetting& setting, std::uint64_t seed) const {
  auto compression = make_compression(plugin_from_json(candidate().section), setting.slots, setting.shape.heads,
                                      setting.shape.channels, length(setting.longest), candidate().find, make_generator(seed));
  move_to(*compression, candidate().device, setting.type);
  compression->train(setting.training);
  return {compression, candidate().device};
}

}  // namespace ablate

namespace ablate {
namespace {

/// Returns the items' lengths, [batch] int64.
Tensor lengths_of(const CompressionInputs& inputs) {
  return inputs.mask.defined() ? inputs.mask.sum(1)
                               : full({inputs.keys.size(0)}, inputs.length(), inputs.keys.options().dtype(kLong));
}

}  // namespace

CompressionInputs CompressionInputs::item(std::int64_t i, std::int64_t length) const {
  return {queries.narrow(0, i, 1), keys.narrow(0, i, 1).narrow(2, 0, length), values.narrow(0, i, 1).narrow(2, 0, length), {}};
}

CompressionInputs CompressionInputs::tokens(std::int64_t first, std::int64_t length) const {
  return {queries, keys.narrow(2, first, length), values.narrow(2, first, length), {}};
}

CompressionInputs CompressionInputs::to(at::ScalarType type) const {
  return {queries.to(type), keys.to(type), values.to(type), mask, query_mask};
}

CompressionInputs CompressionInputs::to(c10::Device device) const {
  const auto there = [&](const Tensor& x) { return x.defined() ? x.to(device) : x; };
  return {there(queries), there(keys), there(values), there(mask), there(query_mask)};
}

Tensor CompressionInputs::gone() const { return mask.logical_not().unsqueeze(1).unsqueeze(-1); }

CompressionInputs CompressionInputs::padded_with(double number) const {
  auto padded = *this;
  padded.keys = keys.masked_fill(gone(), number);
  padded.values = values.masked_fill(gone(), number);
  return padded;
}

namespace conformance {

CompressionInputs inputs_of(std::int64_t length, const std::vector<std::int64_t>& lengths, std::uint64_t seed,
                            std::int64_t batch, const HeadShape& shape) {
  const auto generator = make_generator(seed);
  if (!lengths.empty()) batch = static_cast<std::int64_t>(lengths.size());
  const auto random = [&](std::int64_t tokens) {
    return randn({batch, shape.heads, tokens, shape.channels}, generator, kDouble);
  };
  const auto queries = random(shape.queries), keys = random(length), values = random(length);
  return {queries, keys, values, lengths.empty() ? Tensor() : padding_mask(lengths, length)};
}

Memory on(c10::Device device, Memory memory) {
  for (auto* tensor :
       {&memory.keys, &memory.values, &memory.mass, &memory.slots, &memory.last, &memory.log_scale, &memory.usage})
    if (tensor->defined()) *tensor = tensor->to(device);
  return memory;
}

Memory write(const CompressionInstance& compression, const CompressionInputs& inputs, const Memory* held, std::uint64_t seed) {
  const auto there = inputs.to(compression.device());
  Memory held_there;
  WriteInput input;
  input.keys = there.keys;
  input.values = there.values;
  input.mask = there.mask;
  input.queries = there.queries;
  input.query_mask = there.query_mask;
  if (held != nullptr) input.held = &(held_there = on(compression.device(), *held));
  input.generator = generator_on(compression.device(), seed);
  return on(c10::kCPU, compression->write(input));
}

Tensor read(const CompressionInstance& compression, const Tensor& queries, const Memory& memory, Similarity similarity,
            std::optional<std::int64_t> offset) {
  const auto there = on(compression.device(), memory);
  return compression
      ->read({.queries = queries.to(compression.device()),
              .memory = there,
              .similarity = similarity,
              .causal = offset.has_value(),
              .offset = offset.value_or(0),
              .fused = true})
      .values.to(c10::kCPU);
}

CompressionPass pass(const CompressionInstance& compression, const CompressionInputs& inputs, const PassOptions& options) {
  c10::AutoGradMode recording(options.with_gradients);
  const auto there = inputs.to(compression.device());
  auto leaves = copies({there.queries, there.keys, there.values});
  for (auto& leaf : leaves) leaf.requires_grad_(options.with_gradients);
  CompressionPass result;
  result.given = {leaves[0], leaves[1], leaves[2], there.mask.defined() ? there.mask.clone() : Tensor()};
  std::optional<PutBack> usual;
  if (compression->is_training() && !options.keeps_moved) usual.emplace(contents(compression));

  WriteInput input;
  input.queries = leaves[0];
  input.keys = leaves[1];
  input.values = leaves[2];
  input.mask = result.given[3];
  input.query_mask = there.query_mask;
  Memory held_there;
  if (options.held != nullptr) input.held = &(held_there = on(compression.device(), *options.held));
  const WithSurrogate recorded(options.surrogate);
  input.generator = generator_on(compression.device(), options.seed);
  const auto drawn = input.generator.get_state();
  const auto memory = compression->write(input);
  result.drew = !input.generator.get_state().equal(drawn);

  std::vector<Tensor> outputs;
  Tensor auxiliary;
  const auto keep = [&](const std::string& what, const ReadInput& reading, const Tensor& hidden) {
    const auto found = compression->read(reading);
    const auto values = found.values.to(c10::kCPU);
    outputs.push_back(hidden.defined() ? values.masked_fill(hidden, 0) : values);
    result.outputs.push_back({what, outputs.back().detach()});
    if (!found.auxiliary_loss.defined()) return;
    const auto loss = found.auxiliary_loss.to(c10::kCPU);
    auxiliary = auxiliary.defined() ? auxiliary + loss : loss;
  };
  const auto ends = lengths_of(inputs).view({-1, 1, 1, 1});
  auto offsets = options.offsets;
  if (offsets.empty()) offsets.push_back(inputs.length() / 2);
  for (const auto similarity : kSimilarities) {
    const auto what = std::string("read by ") + text_of(similarity);
    keep(what, {.queries = leaves[0], .memory = memory, .similarity = similarity, .fused = options.fused}, {});
    if (!compression->promises().causal_reads) continue;
    for (const auto offset : offsets) {
      const auto position = arange(leaves[0].size(2), ends.options()).view({1, 1, -1, 1}) + offset;
      keep(fmt::format("{}, causal from {}", what, offset),
           {.queries = leaves[0],
            .memory = memory,
            .similarity = similarity,
            .causal = true,
            .offset = offset,
            .fused = options.fused},
           position >= ends);
    }
  }
  result.memory = on(c10::kCPU, memory);
  for (auto* tensor : {&result.memory.keys, &result.memory.values, &result.memory.mass, &result.memory.log_scale})
    if (tensor->defined()) *tensor = tensor->detach();

  Tensor loss;
  for (const auto& output : outputs) {
    const auto weights = normal({1, output.size(1), output.size(2), output.size(3)}, 11, output.scalar_type());
    const auto term = (output * weights).to(kDouble).sum();
    loss = loss.defined() ? loss + term : term;
  }
  result.loss = loss.item().toDouble();
  if (auxiliary.defined()) result.auxiliary = auxiliary.detach();
  if (options.with_gradients) {
    const auto parameters = compression->parameters();
    for (const auto& parameter : parameters) leaves.push_back(parameter.tensor);
    const auto& of = options.of_auxiliary ? auxiliary : loss;
    const auto found = of.defined() ? gradients_of(of, leaves) : std::vector<Tensor>{};
    for (std::size_t i = 0; i < found.size(); ++i) {
      constexpr const char* names[] = {"queries", "keys", "values"};
      result.gradients.push_back(
          {"gradient of " + (i < 3 ? std::string(names[i]) : parameters[i - 3].name), found[i].detach().to(c10::kCPU)});
    }
  }
  return result;
}

void train_step(const CompressionInstance& compression, const CompressionInputs& inputs, std::int64_t step) {
  pass(compression, inputs, {.keeps_moved = true});
  compression.on_step(step);
}

std::vector<Named> named(const Memory& memory) {
  std::vector<Named> all;
  for (const auto& [what, tensor] : {std::pair{"keys of the memory", memory.keys},
                                     {"values of the memory", memory.values},
                                     {"mass of the memory", memory.mass},
                                     {"scale of the memory", memory.log_scale}})
    if (tensor.defined()) all.push_back({what, tensor.masked_fill(tensor == -kWrong, 0)});  // scale of an item without tokens
  return all;
}

void compare_items(Finding& finding, const std::vector<Named>& found, const std::vector<Named>& expected,
                   const std::string& where, at::ScalarType type) {
  if (type == kDouble || found.size() != expected.size()) return finding.near(found, expected, where, kRounding);
  for (std::size_t i = 0; i < found.size(); ++i)
    finding.near_median(found[i].value, expected[i].value, where + ", " + expected[i].what, median_of_item(type));
}

std::vector<Named> item_of(const std::vector<Named>& all, std::int64_t item, std::int64_t length) {
  std::vector<Named> own;
  for (const auto& [what, value] : all) {
    auto part = value.narrow(0, item, 1);
    if (length >= 0 && (what == "gradient of keys" || what == "gradient of values")) part = part.narrow(2, 0, length);
    own.push_back({what, part});
  }
  return own;
}

const char* text_of(Similarity similarity) {
  return similarity == Similarity::kSoftmax ? "softmax" : similarity == Similarity::kElu ? "elu" : "relu";
}

}  // namespace conformance
}  // namespace ablate
