#include "core/trial/conformance/attention/subject.h"

#include <algorithm>
#include <stdexcept>

namespace ablate {
namespace {

constexpr std::pair<Around, const char*> kAround[] = {{Around::kClassToken, ", behind a class token"},
                                                      {Around::kPicture, ", of a picture"},
                                                      {Around::kPictureAndToken, ", of a picture behind a class token"},
                                                      {Around::kLayers, ", layer 1 of 3"},
                                                      {Around::kTrainedShort, ", trained on half of the length"}};

/// Returns a picture with this number of places, as square as possible.
Geometry picture_of(std::int64_t places) {
  Geometry picture{.rows = 1, .columns = places};
  for (std::int64_t rows = 2; rows * rows <= places; ++rows)
    if (places % rows == 0) picture = {.rows = rows, .columns = places / rows};
  return picture;
}

}  // namespace

std::string Stand::text() const {
  const auto known = std::ranges::find(kAround, around, &std::pair<Around, const char*>::first);
  return std::string(causal ? "causal" : "bidirectional") + (carries ? ", carrying" : "") +
         (positions == Positions::kRotary ? ", rotary" : "") + (dropout > 0 ? ", dropping weights" : "") +
         (known == std::end(kAround) ? "" : known->second);
}

std::string Setting::text() const {
  return stand.text() + (type == kDouble ? "" : std::string(", ") + name_of(type)) + (training ? ", in training" : "");
}

Instance::Instance(std::shared_ptr<Attention> attention, const SharedTensors& shared, c10::Device device)
    : attention_(register_module("attention", std::move(attention))), device_(device) {
  for (const auto& [path, tensor] : shared) {
    auto name = "shared_" + path;
    std::replace(name.begin(), name.end(), '.', '_');
    register_parameter(name, tensor);
  }
}

std::vector<Stand> AttentionSubject::promised_stands() const {
  std::vector<Stand> all;
  for (const bool carries : {false, true})
    for (const bool causal : {false, true})
      if ((causal ? promises().causal : promises().bidirectional) && (!carries || promises().stateful))
        all.push_back({.causal = causal, .carries = carries});
  return all;
}

std::vector<Stand> AttentionSubject::promised_stands(bool carrying) const {
  auto all = promised_stands();
  std::erase_if(all, [&](const Stand& stand) { return stand.carries != carrying; });
  return all;
}

std::vector<Stand> AttentionSubject::possible_stands() const {
  auto all = promised_stands();
  for (const auto& plain : promised_stands()) {
    for (const auto& [around, text] : kAround) (all.emplace_back(plain)).around = around;
    if (promises().rotary) (all.emplace_back(plain)).positions = Positions::kRotary;
    if (promises().weight_dropout) (all.emplace_back(plain)).dropout = 0.1;
  }
  return all;
}

const std::vector<Stand>& AttentionSubject::stands() const {
  if (!stands_.empty()) return stands_;
  stands_ = promised_stands();
  for (const auto& plain : promised_stands())
    if (full() || plain == home())
      for (const auto& around : noticed(plain)) stands_.push_back(around);
  return stands_;
}

std::vector<Stand> AttentionSubject::carrying() const {
  auto all = stands();
  std::erase_if(all, [](const Stand& stand) { return !stand.carries; });
  return all;
}

std::vector<Tensor> AttentionSubject::all_given(const Stand& stand, bool training) const {
  const bool padded = training && promises().key_padding;
  const auto n = length(!full() || training ? 40 : 300);
  const auto instance = make(1, Setting{stand, kDouble, training}, n);
  Pass pass{random_tokens(2, n, 2)};
  if (padded) pass.mask = padding_mask({n, length(n / 2)}, n);
  auto result = forward(*instance, pass);
  auto all = tensors_of(gradients(*instance, pass, pass.mask));
  all.push_back(result.output);
  all.insert(all.end(), result.state.begin(), result.state.end());
  return all;
}

std::vector<Stand> AttentionSubject::noticed(const Stand& plain) const {
  std::vector<Tensor> given[2];
  std::vector<Stand> all;
  for (const auto& [around, text] : kAround) {
    auto stand = plain;
    stand.around = around;
    try {
      bool same = true;
      for (const bool training : {false, true}) {
        auto& here = given[training ? 1 : 0];
        if (here.empty()) here = all_given(plain, training);
        const auto there = all_given(stand, training);
        same = same && std::equal(here.begin(), here.end(), there.begin(), there.end(),
                                  [](const Tensor& a, const Tensor& b) { return a.equal(b); });
        if (!same) break;
      }
      if (!same) all.push_back(stand);
    } catch (const std::invalid_argument&) {  // the factory may refuse such a place
    } catch (const std::exception&) {         // the checks report this fault
      all.push_back(stand);
    }
  }
  return all;
}

std::shared_ptr<Instance> AttentionSubject::make(std::uint64_t seed, const Stand& stand, at::ScalarType type,
                                                 std::int64_t longest) const {
  SharedTensors shared;
  AttentionPlace place{.d_model = stand.channels,
                       .max_length = length(longest),
                       .causal = stand.causal,
                       .carries = stand.carries,
                       .dropout = stand.dropout,
                       .fused = stand.fused,
                       .positions = stand.positions};
  const bool token = stand.around == Around::kClassToken || stand.around == Around::kPictureAndToken;
  place.prefix = token && place.max_length > 1 ? 1 : 0;
  if (stand.around == Around::kPicture || stand.around == Around::kPictureAndToken)
    place.geometry = picture_of(place.max_length - place.prefix);
  if (stand.around == Around::kLayers) place.layer = 1, place.layers = 3;
  if (stand.around == Around::kTrainedShort) place.train_length = length((longest + 1) / 2);
  auto attention = make_attention(plugin_from_json(candidate().section), place, candidate().find, make_generator(seed), shared);
  const auto device = candidate().device;
  auto instance = std::make_shared<Instance>(std::move(attention), shared, device);
  move_to(*instance, device, type);
  instance->eval();
  return instance;
}

std::shared_ptr<Instance> AttentionSubject::make(std::uint64_t seed, const Setting& setting, std::int64_t longest) const {
  auto instance = make(seed, setting.stand, setting.type, longest);
  instance->train(setting.training);
  return instance;
}

std::vector<Setting> AttentionSubject::settings() const { return settings(stands()); }

std::vector<Setting> AttentionSubject::settings(const std::vector<Stand>& stands) const {
  std::vector<Setting> all;
  for (const auto& stand : stands)
    for (const auto type : types())
      for (const auto& setting : settings({stand}, type)) all.push_back(setting);
  return all;
}

std::vector<Setting> AttentionSubject::settings(const std::vector<Stand>& stands, at::ScalarType type) {
  std::vector<Setting> all;
  for (const auto& stand : stands)
    for (const bool training : {false, true}) all.push_back({stand, type, training});
  return all;
}

std::vector<std::int64_t> AttentionSubject::long_lengths() const {
  return full() ? std::vector{length(150), length(300), length(1100)} : std::vector{length(150)};
}

std::vector<std::int64_t> AttentionSubject::long_lengths(const Setting& setting) const {
  if (setting.plain()) return long_lengths();
  if (!full()) return {};
  return setting.type == kDouble || setting.type == kFloat ? std::vector{length(150), length(300)} : std::vector{length(150)};
}

std::vector<std::int64_t> AttentionSubject::short_and_long() const {
  return full() ? std::vector{length(13), length(150)} : std::vector{length(13)};
}

bool AttentionSubject::draws(const Setting& setting, Finding& finding) const {
  if (!setting.training) return false;
  const auto instance = make(1, Setting{.stand = setting.stand, .training = true});
  const auto input = input_of(*instance, {random_tokens(2, length(13), 2)});
  const auto before = input.generator.get_state();
  instance->attention().forward(input);
  const bool drew = !input.generator.get_state().equal(before);
  if (drew) finding.leave(kDraws);
  return drew;
}

AttentionInput input_of(const Instance& instance, const Pass& pass) {
  const auto there = [&](const Tensor& x) { return x.defined() ? x.to(instance.device()) : x; };
  AttentionInput input;
  input.queries = there(pass.queries);
  input.context = pass.context.defined() ? there(pass.context) : input.queries;
  input.mask = there(pass.mask);
  input.query_mask = pass.context.defined() ? there(pass.query_mask) : input.mask;
  input.position = there(pass.position);
  input.state = pass.state.empty() ? instance.attention().initial_state(pass.queries.size(0)) : pass.state;
  input.measure = pass.measure;
  input.generator = generator_on(instance.device(), pass.seed);
  return input;
}

AttentionOutput forward(const Instance& instance, const Pass& pass) {
  const bool restores = instance.is_training() && !pass.moves;
  std::vector<Tensor> buffers;
  for (const auto& entry : instance.buffers()) buffers.push_back(entry.tensor);
  const auto before = restores ? copies(buffers) : std::vector<Tensor>{};
  const WithSurrogate recorded(pass.surrogate);
  auto result = instance.attention().forward(input_of(instance, pass));
  result.output = result.output.to(c10::kCPU);
  if (result.auxiliary_loss.defined()) result.auxiliary_loss = result.auxiliary_loss.to(c10::kCPU);
  const NoGradGuard none;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!buffers[i].equal(before[i])) buffers[i].copy_(before[i]);
  return result;
}

Tensor run(const Instance& instance, const Pass& pass) { return forward(instance, pass).output; }

Tensor random_tokens(std::int64_t batch, std::int64_t n, std::uint64_t seed, at::ScalarType type) {
  return normal({batch, n, AttentionSubject::kChannels}, seed, type);
}

Tensor item(const Tensor& batch, std::int64_t index, std::int64_t length) {
  return batch.narrow(0, index, 1).narrow(1, 0, length);
}

AttentionState item(const AttentionState& state, std::int64_t index) {
  AttentionState own;
  for (const auto& tensor : state) own.push_back(tensor.narrow(0, index, 1));
  return own;
}

AttentionState detached(const AttentionState& state) {
  AttentionState cut;
  for (const auto& tensor : state) cut.push_back(tensor.detach());
  return cut;
}

Tensor real(const Tensor& output, const Tensor& mask) {
  return mask.defined() ? output.masked_fill(mask.logical_not().unsqueeze(-1), 0) : output;
}

Tensor weighted_sum(const Tensor& output, const Tensor& where) {
  const auto weights = normal(output.sizes(), 23, output.scalar_type());
  return (real(output, where) * real(weights, where)).sum();
}

Tensor loss_of(const AttentionOutput& result, const Tensor& where) {
  const auto loss = weighted_sum(result.output, where);
  return result.auxiliary_loss.defined() ? loss + result.auxiliary_loss : loss;
}

Tensor queries_of(const Pass& pass) { return pass.context.defined() ? pass.query_mask : pass.mask; }

std::vector<Named> gradients(const Instance& instance, Pass pass, const Tensor& where) {
  std::vector<Named> all;
  std::vector<Tensor> inputs;
  const auto add = [&](const std::string& name, const Tensor& input) {
    all.push_back({std::string(kGradientOf) + name, {}});
    inputs.push_back(input);
  };
  for (const auto& entry : instance.parameters()) add(stripped(entry.name), entry.tensor);
  for (const auto& [tensor, name] : {std::pair{&pass.queries, "queries"}, {&pass.context, "context"}})
    if (tensor->defined()) add(name, *tensor = tensor->detach().requires_grad_());
  const auto found = gradients_of(loss_of(forward(instance, pass), where), inputs);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].value = found[i];
  return all;
}

}  // namespace ablate
