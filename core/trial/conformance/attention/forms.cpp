// Forms of operations that only trials use: float32, a model's width, and a model's batches.
#include <ATen/Parallel.h>
#include <c10/util/ScopeExit.h>
#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "core/registry/plugin_info.h"
#include "core/trial/conformance/attention/contract.h"
#include "core/trial/training/precision.h"
#include "core/util/error.h"
#include "core/util/one_line.h"

namespace ablate::conformance {
namespace {

constexpr Allowed kFloatForms{1e-4, "median error of float32 against float64, smallest of three inputs"};
constexpr Allowed kMixedForms{0.1, "median error of bfloat16 products, smallest of three inputs"};
constexpr Allowed kOtherDraws{0.1, "error of outputs minus their mean over other draws, smallest of three inputs"};

/// Way of computing that a trial may choose.
struct Form {
  const char* name;
  bool fused = true;
  int threads = 1;
  bool mixed = false;
};
constexpr Form kFused{"float32"}, kFusedByTwo{"float32, two threads", true, 2}, kMixed{"mixed", true, 1, true},
    kReference{"float32, reference kernels", false}, kReferenceByTwo{"float32, reference kernels, two threads", false, 2};

/// Batch, with the forms that compute it.
struct FormCase {
  Stand stand;
  std::int64_t heads;                              ///< number of heads, if a parameter sets it; 0: the default
  std::vector<std::vector<std::int64_t>> lengths;  ///< [segment][item] tokens. The longest item sets the segment's length.
  std::vector<Form> forms;
  bool trains = true;        ///< computed in training mode, unless training draws random numbers
  std::int64_t queries = 0;  ///< number of queries over another sequence; 0: self-attention
};

/// One segment of a batch.
struct FormSegment {
  Tensor tokens;                              ///< [items, n, channels]
  Tensor weights;                             ///< weights of outputs in the loss, 0 for outputs that are not compared
  Tensor mask;                                ///< undefined: none
  std::vector<std::int64_t> present, judged;  ///< for each item: number of tokens; number of compared outputs
};

/// Sequences in segments, or in one segment if no state is carried.
struct FormBatch {
  std::vector<FormSegment> segments;
  Tensor context;  ///< other sequence, under the mask of the only segment; undefined: none

  std::int64_t items() const { return segments.front().tokens.size(0); }
  /// Returns the tensor that element k of FormResult::rows belongs to.
  const Tensor& row(std::size_t k) const { return k < 2 * segments.size() ? segments[k % segments.size()].tokens : context; }
  /// Returns one item, cut to its compared tokens, or to its present tokens if `whole` is true.
  FormBatch item(std::int64_t i, bool whole) const {
    const auto at = static_cast<std::size_t>(i);
    const auto cut = [i](const Tensor& x, std::int64_t n) { return x.narrow(0, i, 1).narrow(1, 0, n); };
    FormBatch own;
    for (const auto& [tokens, weights, mask, present, judged] : segments) {
      const auto n = context.defined() ? tokens.size(1) : whole ? present[at] : judged[at];
      own.segments.push_back({cut(tokens, n), cut(weights, n), {}, {n}, {judged[at]}});
    }
    if (!context.defined()) return own;
    const auto n = segments.front().present[at];  // a context without tokens gets one token, under the mask
    own.context = cut(context, std::max<std::int64_t>(n, 1));
    if (n == 0) own.segments.front().mask = padding_mask({0}, 1);
    return own;
  }
};

/// Results. `rows`: outputs of each segment, 0 if not compared, then gradients in each segment's tokens and in the context.
struct FormResult {
  std::vector<Tensor> rows;        ///< [items, n, channels]
  std::vector<Tensor> parameters;  ///< gradients of parameters
  bool finite = true;              ///< all outputs, compared or not, are finite
};

FormResult together(const Instance& instance, const FormBatch& batch, at::ScalarType type) {
  FormResult result;
  auto inputs = parameters_of(instance);
  const auto parameters = inputs.size();
  const auto leaf = [&](const Tensor& x) { return inputs.emplace_back(x.to(type).detach().clone().requires_grad_()); };
  std::vector<Tensor> tokens;
  for (const auto& segment : batch.segments) tokens.push_back(leaf(segment.tokens));
  const auto context = batch.context.defined() ? leaf(batch.context) : Tensor();
  auto loss = zeros({}, TensorOptions().dtype(type));
  AttentionState state;
  std::vector<std::int64_t> position(static_cast<std::size_t>(batch.items()));
  for (std::size_t s = 0; s < tokens.size(); ++s) {
    const auto& segment = batch.segments[s];
    auto output = tokens[s];
    if (output.size(1) > 0) {
      const auto before = tokens.size() > 1 ? integers(position) : Tensor();
      auto given = forward(instance, {tokens[s], context, segment.mask, {}, state, before});
      output = given.output, state = std::move(given.state);
    }
    result.finite = result.finite && output.isfinite().all().item().toBool();
    output = output.masked_fill(segment.weights.eq(0), 0);
    loss = loss + (output * segment.weights.to(type)).sum();
    result.rows.push_back(output.detach());
    for (std::size_t i = 0; i < position.size(); ++i) position[i] += segment.present[i];
  }
  for (const auto& gradient : gradients_of(loss, inputs))
    (result.parameters.size() < parameters ? result.parameters : result.rows).push_back(gradient.to(c10::kCPU));
  return result;
}

/// Computes each item alone in float64, and returns the results of all items.
FormResult alone(const Instance& instance, const FormBatch& batch, bool whole) {
  FormResult all;
  std::vector<std::vector<Tensor>> rows;
  for (std::int64_t i = 0; i < batch.items(); ++i) {
    const auto own = together(instance, batch.item(i, whole), kDouble);
    rows.resize(own.rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k)
      rows[k].push_back(pad(own.rows[k], {0, 0, 0, batch.row(k).size(1) - own.rows[k].size(1)}));
    for (std::size_t k = 0; k < own.parameters.size(); ++k)
      i == 0 ? all.parameters.push_back(own.parameters[k]) : void(all.parameters[k] = all.parameters[k] + own.parameters[k]);
  }
  for (const auto& row : rows) all.rows.push_back(ablate::cat(row, 0));
  return all;
}

/// Compares blocks of 32 tokens of each item. With mixed products, compares the whole tensor.
void blocks(Finding& finding, const Tensor& found, const Tensor& expected, const std::vector<std::int64_t>& lengths, bool mixed,
            const std::string& where) {
  constexpr std::int64_t block = 32;
  const auto size = expected.abs(), counts = size.gt(0);
  if (mixed) return finding.near_median(found.masked_select(counts), expected.masked_select(counts), where, kMixedForms, 1e-3);
  const auto apart = (found.to(kDouble) - expected).abs();
  const auto number = [](const Tensor& x) { return x.item().toDouble(); };
  const double mean = std::max(1e-3, number(size.sum()) / std::max(1.0, number(counts.sum())));
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(lengths.size()); ++i)
    for (std::int64_t at = 0, n = lengths[static_cast<std::size_t>(i)]; at < n; at += block) {
      const auto of = [&](const Tensor& x) { return x[i].narrow(0, at, std::min(block, n - at)); };
      finding.off_by(number(of(apart).median()) / std::max(mean, number(of(size).mean())),
                     fmt::format("{}, item {} of {} tokens, from {} on: the median", where, i, n, at));
    }
}

void compare_forms(Finding& finding, const Instance& instance, const FormBatch& batch, const FormResult& found,
                   const FormResult& expected, bool mixed) {
  if (!found.finite) finding.off_by(kWrong, "an output is not finite");
  const auto named = instance.parameters();
  const auto segments = batch.segments.size();
  constexpr const char* what[] = {"output", "gradient", "gradient in the context"};
  for (std::size_t k = 0; k < found.rows.size(); ++k) {
    const auto& segment = batch.segments[k % segments];
    const bool by_keys = k >= segments && (!batch.context.defined() || k == 2 * segments);
    blocks(finding, found.rows[k], expected.rows[k], by_keys ? segment.present : segment.judged, mixed,
           fmt::format("{} of segment {}", what[k / segments], k % segments));
  }
  // The gradient of a parameter that changes nothing (the keys' bias under a softmax) is the rounding of large terms.
  double size = 0.25;
  for (std::size_t k = 0; k < named.size(); ++k)
    if (named[k].tensor.numel() > 0) size = std::max(size, expected.parameters[k].abs().median().item().toDouble());
  for (std::size_t k = 0; k < named.size(); ++k)
    finding.near_median(found.parameters[k], expected.parameters[k], "gradient of " + named[k].name,
                        mixed ? kMixedForms : kFloatForms, size);
}

/// Returns the subject with another number of heads, or unchanged if it lacks this parameter or its factory refuses the number.
AttentionSubject with_heads(const AttentionSubject& subject, const FormCase& one) {
  if (one.heads > 0 && describe(subject.candidate().descriptor()).find("heads") != nullptr) try {
      auto candidate = subject.candidate().with("heads", one.heads);
      candidate.exemptions = subject.candidate().exemptions;
      const AttentionSubject changed(std::move(candidate));
      changed.make(1, one.stand);
      return changed;
    } catch (const Error&) {
    } catch (const std::invalid_argument&) {
    }
  return subject;
}

/// Returns padded items. In causal self-attention without a state, every second item has other tokens instead of padding, or
/// every item if the attention does not promise key_padding.
FormBatch batch_of(const AttentionSubject& subject, const FormCase& one, std::uint64_t seed) {
  const bool pads = subject.promises().key_padding, crosses = one.queries > 0;
  FormBatch batch;
  for (const auto& lengths : one.lengths) {
    const auto n = subject.length(*std::max_element(lengths.begin(), lengths.end()));
    const auto queries = crosses ? subject.length(one.queries) : n, items = static_cast<std::int64_t>(lengths.size());
    FormSegment own;
    for (const auto length : lengths) {
      const auto real = length > 0 ? subject.length(length) : 0;
      const bool followed = one.stand.causal && !one.stand.carries && !crosses && (!pads || own.present.size() % 2 == 0);
      own.present.push_back(pads && !followed ? real : n);
      own.judged.push_back(crosses ? queries : followed ? real : own.present.back());
    }
    if (pads) own.mask = padding_mask(own.present, n);
    const auto draw = [&](std::int64_t count) { return normal({items, count, one.stand.channels}, ++seed * 100); };
    own.tokens = draw(queries);
    own.weights = real(draw(queries), padding_mask(own.judged, queries));
    if (crosses) batch.context = draw(n);
    batch.segments.push_back(std::move(own));
  }
  return batch;
}

void hold(const AttentionSubject& given, FormCase one, Finding& finding) {
  const auto subject = with_heads(given, one);
  const bool drops = one.stand.dropout > 0;
  Finding unused(kExact);
  const Stand plain{.causal = one.stand.causal, .carries = one.stand.carries};
  one.trains = one.trains && (drops || !subject.draws({.stand = plain, .training = true}, unused));
  std::int64_t n = one.queries;
  for (const auto& lengths : one.lengths) n = std::max(n, *std::max_element(lengths.begin(), lengths.end()));
  const auto make = [&](bool fused, at::ScalarType type) {
    Setting setting{one.stand, type, one.trains};
    setting.stand.fused = fused;
    return subject.make(1, setting, n);
  };
  const auto stand = Setting{one.stand, kDouble, one.trains}.text() + (one.queries > 0 ? ", cross" : "");
  const auto text = fmt::format("{}, {} channels", stand, one.stand.channels);
  std::shared_ptr<Instance> exact;
  try {
    exact = make(true, kDouble);
  } catch (const std::invalid_argument& refusal) {
    return finding.leave(text + ": " + one_line(refusal.what()));
  }
  const auto drawn = [&](at::ScalarType type) {
    const auto instance = make(true, type);
    const auto input = input_of(*instance, {normal({2, subject.length(33), one.stand.channels}, 2, type)});
    instance->attention().forward(input);
    return input.generator.get_state();
  };
  const bool other_draws = drops && !drawn(kFloat).equal(drawn(kDouble));
  bool whole = false;  // true if the published method reads later tokens: an item alone keeps all its tokens
  std::map<std::uint64_t, std::pair<FormBatch, FormResult>> inputs;
  const auto look = [&](const Form& form, std::uint64_t seed, Finding& now) {
    const auto [at, is_new] = inputs.try_emplace(seed);
    auto& [batch, expected] = at->second;
    if (is_new) batch = batch_of(subject, one, seed);
    if (is_new) expected = drops ? together(*exact, batch, kDouble) : alone(*exact, batch, whole);
    const auto put_back = c10::make_scope_exit([before = at::get_num_threads()] { at::set_num_threads(before); });
    at::set_num_threads(form.threads);
    const Products products(form.mixed);
    const auto found = together(*make(form.fused, kFloat), batch, kFloat);
    if (!other_draws) return compare_forms(now, *exact, batch, found, expected, form.mixed);
    const auto spread = [&](const FormResult& result) {
      const auto read =
          result.rows.front().masked_select(batch.segments.front().weights.ne(0)).reshape({-1, one.stand.channels});
      return (read - read.mean(0)).norm().item().toDouble();
    };
    now.off_by(std::abs(spread(found) / spread(expected) - 1), "the size of outputs", kOtherDraws);
  };
  for (const auto& form : one.forms)
    finding.nearest(fmt::format("{}, {}", text, form.name), kFloatForms, [&](std::uint64_t seed, Finding& now) {
      look(form, seed, now);
      if (now.passed() || !one.stand.causal || whole || !subject.candidate().exemptions->declares("causal", "")) return;
      whole = true, inputs.clear(), now = now.anew();
      look(form, seed, now);
    });
  if (n < 300) return;
  const auto tokens = inputs.begin()->second.first.segments.front().tokens.narrow(0, 0, 1);
  differences(*exact, {tokens}, false, text + ", gradient", finding);
  if (!subject.promises().averages || one.stand.causal != subject.home().causal) return;
  const auto alike = tokens.narrow(1, 0, 1).expand_as(tokens).contiguous();  // same input as in the check "constants"
  const auto one_token = run(*exact, {alike.narrow(1, 0, subject.length(1))}).narrow(1, 0, 1);
  finding.near(run(*exact, {alike}), one_token.expand_as(alike), text + ", tokens that are alike", kRounding);
}

}  // namespace

void forms(const AttentionSubject& subject, Finding& finding) {
  const auto& promises = subject.promises();
  auto home = subject.home(), narrow = home;
  home.channels = 64, narrow.channels = 32;
  auto other = home, dropping = home;
  other.causal = promises.causal, dropping.dropout = 0.25;
  const std::vector<std::int64_t> few = {65, 70, 64, 33, 32, 31, 48, 0, 1}, nine = {321, 330, 257, 129, 64, 33, 32, 0, 1},
                                  many = {321, 330, 310, 257, 192, 129, 128, 97, 64, 63, 48, 33, 32, 17, 8, 0, 1};
  const std::vector<Form> both = {kFused, kReference};
  std::vector<FormCase> cases = {{narrow, 0, {{45, 48, 33, 0, 32}}, both}, {home, 8, {few}, both, false}};
  if (promises.weight_dropout) cases.push_back({dropping, 2, {few}, both});
  if (subject.crosses(home)) cases.push_back({home, 4, {few}, both, true, 40});
  for (auto stand : subject.promised_stands(true)) {
    stand.channels = 64;
    if (promises.rotary) stand.positions = Positions::kRotary;
    const std::vector<std::int64_t> first(9, 40), second = {40, 33, 17, 8, 40, 1, 32, 0, 39}, third(9, 33);
    cases.push_back({stand, 4, {first, second, third}, both});
  }
  if (!(other == home)) cases.push_back({other, 2, {nine}, {kFused, kReferenceByTwo}, false});
  cases.push_back({home, 2, {many}, other == home ? std::vector{kFusedByTwo, kReference} : std::vector{kFusedByTwo}});
  try {
    check_products(true);
    cases.back().forms.push_back(kMixed);
  } catch (const Error& refusal) {
    finding.leave(fmt::format("mixed: {}", refusal.what()));
  }
  for (const auto& one : cases) hold(subject, one, finding);
}

}  // namespace ablate::conformance
