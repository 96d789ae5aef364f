#include "core/trial/conformance/attention/layers.h"

#include <algorithm>

namespace ablate::conformance {
namespace {

constexpr std::int64_t kWidth = AttentionSubject::kChannels;
/// Row of a layer that is changed: not the first row, which may be special.
constexpr std::int64_t kRow = 3;

/// Sets the weight to the identity, repeated or cut to its shape.
void set_identity(const Tensor& weight) {
  weight.copy_(arange(weight.size(0)).remainder(weight.size(1)).unsqueeze(1).eq(arange(weight.size(1))));
}

class LayerSearch {
 public:
  LayerSearch(const Instance& instance, std::int64_t n) : instance_(instance), n_(n), entries_(instance.parameters()) {
    for (const auto& entry : entries_)
      if (!entry.kept.type) type_ = entry.tensor.scalar_type();
  }

  Layers run() {
    here_ = read(5);
    find(found_.outputs, 0);
    if (found_.outputs.empty()) return found_;
    const auto before = copies(parameters_of(instance_));
    for (const auto& layer : found_.outputs) set_identity(layer.weight);
    here_ = read(5);
    find(found_.values, found_.outputs.front().weight.size(1));
    made_by(found_.values) == kNot ? find_maker() : void(found_.makers = found_.values);
    for (std::size_t i = 0; i < before.size(); ++i)
      if (is_owned(entries_[i].tensor)) entries_[i].tensor.copy_(before[i]);
    return found_;
  }

 private:
  /// @param bare true: channel 0 of the tokens is 0
  Tensor read(std::uint64_t seed, bool bare = false) const {
    const auto tokens = random_tokens(1, n_, seed, type_);
    return ablate::run(instance_, {bare ? first_set(tokens, 0) : tokens});
  }
  bool is_owned(const Tensor& parameter) const {
    const auto owns = [&](const Layer& layer) { return layer.owns(parameter); };
    return std::ranges::any_of(found_.outputs, owns) || std::ranges::any_of(found_.values, owns);
  }
  /// Returns the rounding error of outputs of this size.
  double least(const Tensor& output) const {
    return (type_ == kDouble ? 1e-12 : 1e-6) * output.abs().max().clamp_min(1e-3).item().toDouble();
  }

  /// Dependence of outputs on the layers. kNot: outputs depend on tokens although the layers return 0, or outputs do not change
  /// when the layers return twice as much (keys of a rectified kernel).
  enum Made { kNot, kSomehow, kLinearly };
  Made made_by(const std::vector<Layer>& layers) const {
    if (layers.empty()) return kNot;
    const auto after = [&](const auto& change, std::uint64_t seed, bool bare) {
      const auto before = copies(parameters_of(instance_));
      for (const auto& layer : layers) change(layer);
      const auto output = read(seed, bare);
      for (std::size_t i = 0; i < before.size(); ++i) entries_[i].tensor.copy_(before[i]);
      return output;
    };
    const auto doubled = [](const Layer& layer) {
      layer.weight.mul_(2);
      if (layer.bias.defined()) layer.bias.mul_(2);
    };
    const auto gone = [](const Layer& layer) {
      set_alike(layer);
      if (layer.bias.defined()) layer.bias.zero_();
    };
    const auto apart = [](const Tensor& a, const Tensor& b) { return (a - b).abs().max().item().toDouble(); };
    const auto twice = after(doubled, 5, false), without = after(gone, 5, true);
    const double change = apart(twice, here_), rounding = type_ == kDouble ? 1e-6 : 1e-3;
    if (apart(without, after(gone, 6, true)) > least(without) || change <= rounding) return kNot;
    return apart(twice - here_, here_ - without) <= rounding * change ? kLinearly : kSomehow;
  }

  /// Finds the only layer that makes all values, if its output passes through other layers before attention reads it.
  void find_maker() {
    std::vector<Layer> all[kLinearly + 1];
    for (const auto& [name, tensor, kept] : entries_) {
      if (tensor.dim() != 2 || is_owned(tensor)) continue;
      const Layer layer{tensor.detach(), bias_of(name, tensor.size(0), 0, tensor.size(0), {})};
      all[made_by({layer})].push_back(layer);
    }
    const auto& best = all[all[kLinearly].empty() ? kSomehow : kLinearly];
    if (best.size() == 1) found_.makers = best;
  }

  /// Finds layers that act as layers of outputs or of values. Returns transposed layers only if there are no others.
  /// @param inner to find values: number of channels that the outputs' layer reads; 0: finds the outputs
  void find(std::vector<Layer>& all, std::int64_t inner) const {
    std::vector<Layer> some;
    for (const bool turned : {false, true})
      for (const auto& entry : entries_)
        if (entry.tensor.dim() == 2 && !is_owned(entry.tensor) && (some.empty() || some.front().turned == turned))
          find_in(entry, turned, inner, some);
    all = std::move(some);
  }

  void find_in(const Module::Entry& entry, bool turned, std::int64_t inner, std::vector<Layer>& all) const {
    const auto tensor = entry.tensor.detach(), whole = turned ? tensor.transpose(0, 1) : tensor;
    const auto rows = whole.size(0), block = inner > 0 && rows % inner == 0 ? inner : rows;
    // With fewer rows, a query's or key's layer could reach as few channels as a value's layer.
    if (inner == 0 ? rows != kWidth : whole.size(1) != kWidth || block < kWidth / 2) return;
    for (std::int64_t first = 0; first < rows; first += block) {
      const auto weight = whole.narrow(0, first, block);
      const auto reached = reached_by(weight.select(0, kRow));
      const auto count = static_cast<std::int64_t>(reached.size());
      if (count > 0 && count <= std::max<std::int64_t>(1, kWidth / block) && (inner > 0 || reached.front() == kRow))
        all.push_back({weight, bias_of(entry.name, rows, first, block, reached), turned});
    }
  }

  /// Returns the bias that moves the same outputs as the weight. If several biases do, returns the one with the closest name.
  /// @param reached channels that the weight reaches; empty if unknown
  Tensor bias_of(const std::string& name, std::int64_t rows, std::int64_t first, std::int64_t block,
                 const std::vector<std::int64_t>& reached) const {
    Tensor best;
    std::ptrdiff_t most = -1;
    for (const auto& [other, tensor, kept] : entries_) {
      const auto alike = std::ranges::mismatch(other, name).in1 - other.begin();
      if (tensor.dim() != 1 || tensor.size(0) != rows || is_owned(tensor) || alike <= most) continue;
      const auto bias = tensor.detach().narrow(0, first, block);
      if (reached.empty() || reached_by(bias.narrow(0, kRow, 1)) == reached) best = bias, most = alike;
    }
    return best;
  }

  /// Returns the output channels that a change of these numbers reaches. Empty if outputs are not linear in these numbers.
  std::vector<std::int64_t> reached_by(const Tensor& part) const {
    const auto original = part.clone();
    // The step is small, so that a maximum over tokens stays at the same token and is linear. float32 needs a larger step.
    const auto by = normal_like(part, 31) * (type_ == kDouble ? 1e-4 : 0.03);
    part.copy_(original + by);
    const auto above = read(5);
    part.copy_(original - by);
    const auto below = read(5);
    part.copy_(original);
    const auto moved = (above - below).abs().amax({0, 1});
    const double bent = (above + below - here_ * 2).abs().max().item().toDouble();
    const double rounding = std::max(least(here_), (type_ == kDouble ? 1e-6 : 1e-3) * moved.max().item().toDouble());
    std::vector<std::int64_t> all;
    for (std::int64_t channel = 0; channel < moved.size(0); ++channel)
      if (bent <= rounding && moved[channel].item().toDouble() > rounding) all.push_back(channel);
    return all;
  }

  const Instance& instance_;
  std::int64_t n_;
  std::vector<Module::Entry> entries_;
  at::ScalarType type_ = kDouble;
  Tensor here_;
  Layers found_;
};

}  // namespace

Layers layers_of(const Instance& instance, std::int64_t n) {
  const NoGradGuard none;
  return LayerSearch(instance, n).run();
}

void set_alike(const Layer& layer) {
  const NoGradGuard none;
  layer.weight.zero_();
  const auto free = layer.bias.defined() ? layer.bias : layer.weight.select(1, 0);
  free.copy_(normal_like(free, 6));
}

Tensor first_set(const Tensor& tokens, double value) {
  auto all = tokens.clone();
  all.select(2, 0).fill_(value);
  return all;
}

}  // namespace ablate::conformance
