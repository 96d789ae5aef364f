// Half precision: compares a narrow run (float16 or bfloat16) with float64, on the same rounded weights and inputs.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "core/trial/conformance/attention/contract.h"
#include "core/trial/conformance/engine/registered.h"

namespace ablate::conformance {
namespace {

/// Named result of a pass. `shares` are the quantiles of its errors that are compared: 0.9 and 1 of an output, 0.5 of a sum.
struct Part {
  std::string what;
  Tensor value;
  std::vector<double> shares;
  double size = 0;  ///< least size that errors are compared with, because a sum that cancels is only rounding
};
using Look = std::function<std::vector<Part>(const Instance&, const Tensor& tokens)>;

const std::vector<double> kOutputs = {0.9, 1.0}, kSums = {0.5};

double quantile(const Tensor& x, double share) {
  const auto below = static_cast<std::int64_t>(share * static_cast<double>(x.numel() - 1));
  return std::get<0>(x.flatten().kthvalue(below + 1)).item().toDouble();
}

/// Compares a narrow run with float64. The allowed error is measured in float64, by runs with 8 and 16 times the rounding of
/// inputs and weights. This rounding may change decisions, too. If the error of the narrow run is larger, other directions of
/// rounding are tried, because another decision may have changed.
class NarrowRun {
 public:
  NarrowRun(const AttentionSubject& subject, const Setting& setting, std::int64_t n, std::int64_t longest, Look look)
      : look_(std::move(look)), type_(setting.type), tokens_(random_tokens(1, n, 2)), rounded_(tokens_.to(type_).to(kDouble)) {
    const auto narrow = subject.make(1, setting, longest);
    found_ = look_(*narrow, tokens_.to(type_));
    wide_ = subject.make(1, Setting{setting.stand, kDouble, setting.training}, longest);
    weights_ = copies(contents(*wide_));
    move_to(*narrow, c10::kCPU, kDouble);
    copy_registered(*narrow, *wide_);
    rounded_weights_ = copies(contents(*wide_));
    expected_ = look_(*wide_, rounded_);
    for (const double factor : {kFactor, -kFactor, 2 * kFactor, -2 * kFactor}) move(factor, 0);
  }

  void compare(const std::string& where, Finding& finding) {
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      const auto& part = expected_[i];
      const auto place = where + (part.what.empty() ? "" : ", ") + part.what;
      const auto found = found_.at(i).value.detach().to(kDouble);
      finding.finite(found, place);
      const auto off = (found - part.value).abs();
      for (const double share : part.shares) {
        const double seen = quantile(off, share);
        for (std::uint64_t seed = 1; seed <= kOthers && moved_.size() < 4 + kOthers && seen > most_of(i, share); ++seed)
          move(kFactor, seed);
        const double most = most_of(i, share);
        const auto* const how = share < 0.8 ? "half of the numbers are off by"
                                : share < 1 ? "a tenth of the numbers are off by"
                                            : "a number is off by";
        finding.off_by(seen > 0 ? seen / most : 0,
                       fmt::format("{}: {} {:.2g}, while {} to {} times the rounding of the inputs gives {:.2g}", place, how,
                                   seen, kFactor, 2 * kFactor, most));
      }
    }
  }

 private:
  static constexpr double kFactor = 8;
  static constexpr std::size_t kOthers = 8;

  void move(double factor, std::uint64_t seed) {
    const auto by = [&](const Tensor& exact, const Tensor& narrow) {
      const auto off = (exact - narrow) * factor;
      return narrow + (seed == 0 ? off : off * normal_like(off, seed));
    };
    const auto all = contents(*wide_);
    {
      const NoGradGuard none;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].is_floating_point()) all[i].copy_(by(weights_[i], rounded_weights_[i]));
    }
    std::vector<Tensor> off;
    const auto now = look_(*wide_, by(tokens_, rounded_));
    for (std::size_t i = 0; i < now.size(); ++i) off.push_back((now[i].value - expected_[i].value).detach().abs());
    moved_.push_back(std::move(off));
  }

  double most_of(std::size_t part, double share) const {
    const double size = std::max(expected_[part].value.detach().abs().median().item().toDouble(), expected_[part].size);
    double most = kFactor * size * (type_ == at::kHalf ? 1.0 / 2048 : 1.0 / 256);
    for (const auto& one : moved_) most = std::max(most, quantile(one[part], share));
    return most;
  }

  Look look_;
  at::ScalarType type_;
  Tensor tokens_, rounded_;
  std::shared_ptr<Instance> wide_;
  std::vector<Tensor> weights_, rounded_weights_;
  std::vector<Part> found_, expected_;
  std::vector<std::vector<Tensor>> moved_;  ///< effect of each tried rounding on each part
};

std::vector<Part> output_of(const Instance& instance, const Tensor& tokens) {
  const NoGradGuard none;
  return {{"", run(instance, {tokens}), kOutputs}};
}

/// A gradient that cancels, such as the gradient of the keys' bias, is rounding. Its error is compared with the size of the
/// other gradients.
std::vector<Part> gradients_part(const Instance& instance, const Tensor& tokens) {
  const auto found = gradients(instance, {tokens});
  double size = 0;
  for (std::size_t i = 0; i + 1 < found.size(); ++i)
    size = std::max(size, found[i].value.to(kDouble).abs().median().item().toDouble());
  std::vector<Part> parts;
  for (const auto& [what, value] : found)
    if (value.numel() > 0) parts.push_back({what, value, kSums, &value != &found.back().value ? size : 0});
  return parts;
}

/// Runs a long segment, then segments that are too short to change a sum in half precision. Returns the last output and state.
std::vector<Part> carried(const Instance& instance, const Tensor& tokens, std::int64_t first, std::int64_t unit) {
  const NoGradGuard none;
  AttentionState state;
  std::vector<Part> parts(1);
  for (std::int64_t at = 0; at < tokens.size(1); at += at == 0 ? first : unit) {
    const auto segment = tokens.narrow(1, at, at == 0 ? first : unit);
    auto result = forward(instance, {.queries = segment, .state = state, .position = integers(std::vector{at})});
    state = std::move(result.state);
    parts.front() = Part{"the last output", result.output, kOutputs};
  }
  for (std::size_t i = 0; i < state.size(); ++i)
    if (state[i].is_floating_point() && state[i].numel() > 0)
      parts.push_back({fmt::format("state {}", i), state[i].to(kDouble), kSums});
  return parts;
}

}  // namespace

void half(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands())
    for (const auto type : {at::kHalf, at::kBFloat16}) {
      const Setting evaluated{stand, type, false}, setting{stand, type, true};
      // A sum of ones stops growing at 256 in bfloat16 and at 2048 in float16. Quadratic methods have no such sums.
      const bool is_linear = subject.promises().memory_exponent < 1.5, has_few_bits = type == at::kBFloat16;
      std::vector<std::int64_t> lengths = {subject.length(33)};
      if (subject.full()) lengths.push_back(subject.length(is_linear || has_few_bits ? 1100 : 300));
      if (subject.full() && is_linear && !has_few_bits) lengths.push_back(subject.length(4100));
      for (const auto n : lengths)
        NarrowRun(subject, evaluated, n, n, output_of).compare(fmt::format("{}, {} tokens", evaluated.text(), n), finding);
      const bool draws = subject.draws(setting, finding);
      for (const auto n : {subject.length(33), subject.length(is_linear ? 1100 : 300)}) {
        if (!subject.full() && !has_few_bits) continue;
        if (n > subject.length(33) && (!subject.full() || stand.around != Around::kNothing || !has_few_bits)) continue;
        const auto& differentiated = draws ? evaluated : setting;
        NarrowRun(subject, differentiated, n, n, gradients_part)
            .compare(fmt::format("{}, {} tokens", differentiated.text(), n), finding);
      }
      if (stand.carries && stand.around == Around::kNothing) {
        // Runs token by token only if the method promises recurrent. In other methods, a signal that is fitted again after each
        // token (as in the plugin infinity) grows without bound, through an error that differs between processors.
        const auto first = subject.length(subject.full() ? 1100 : 33),
                   unit = subject.length(subject.promises().recurrent ? 1 : 16);
        const auto units = subject.full() ? std::int64_t{96} : std::int64_t{3};
        NarrowRun(subject, evaluated, first + units * unit, first, [&](const Instance& instance, const Tensor& tokens) {
          return carried(instance, tokens, first, unit);
        }).compare(fmt::format("{}, {} tokens and {} segments behind them", evaluated.text(), first, units), finding);
      }
      const auto instance = subject.make(1, setting);
      const Pass pass{random_tokens(2, subject.length(33), 2, type)};
      finding.finite(tensors_of(gradients(*instance, pass)), setting.text() + ", gradients");
      // An average of inputs of 1e4 is no larger than the inputs. A sum of products is larger, and float16 ends at 65504.
      if (type == at::kBFloat16 || subject.promises().averages)
        finding.finite(run(*instance, {pass.queries * 1e4}), setting.text() + ", inputs of 1e4");
    }
}

}  // namespace ablate::conformance
