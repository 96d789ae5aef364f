// Batch mates and calls: an item must not depend on other items, and a call must not depend on earlier calls. Inputs must stay
// as they are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trial/conformance/compression/contract.h"
#include "core/trial/conformance/engine/lengths.h"

namespace ablate::conformance {
namespace {

/// Returns an item's outputs, then its gradients in queries, keys and values.
std::vector<Named> whole_item(const CompressionPass& pass, std::int64_t item, std::int64_t length = -1) {
  return item_of(joined(pass.outputs, of_inputs(pass.gradients)), item, length);
}

std::vector<Named> of_parameters(const CompressionPass& pass) { return {pass.gradients.begin() + 3, pass.gradients.end()}; }

void overwrite(const std::vector<Tensor>& given) {
  const NoGradGuard none;
  for (const auto& tensor : given)
    if (tensor.defined()) tensor.scalar_type() == kBool ? tensor.logical_not_() : tensor.fill_(std::nan(""));
}

/// Compares `second` on a new instance with `second` after `first`. Before `second`, overwrites the inputs of `first`.
void look_after(const CompressionSubject& subject, Finding& finding, const CompressionSetting& setting,
                const CompressionInputs& first, const CompressionInputs& second, const std::string& order) {
  const auto compression = subject.make(setting);
  overwrite(pass(*compression, first).given);
  const auto after = pass(*compression, second), fresh = pass(*subject.make(setting), second);
  const auto place = setting.text() + ", " + order;
  finding.near(after.results(), fresh.results(), place, same_shape(setting.type));
}

/// Compares items of a batch of eight with the items alone.
void eight_alone(const CompressionSubject& subject, const Slots& slots, std::int64_t n, Finding& finding) {
  const NoGradGuard none;
  constexpr std::int64_t items = 8;
  const CompressionSetting setting{slots, kDouble, false, n};
  const auto compression = subject.make(setting);
  const auto in = inputs_of(n, {}, 7, items);
  const PassOptions options{.offsets = {n / 2}, .with_gradients = false};
  const auto together = pass(*compression, in, options).outputs;
  for (const std::int64_t i : {std::int64_t{0}, n % items, items - 1})
    finding.near(item_of(together, i), pass(*compression, in.item(i, n), options).outputs,
                 fmt::format("{}, item {} of {} of {} tokens, against the item alone", setting.text(), i, items, n), kRounding);
}

}  // namespace

void batch(const CompressionSubject& subject, Finding& finding) {
  const auto look = [&](const CompressionSetting& setting, std::int64_t n) {
    const auto compression = subject.make(setting);
    for (const bool masked : {false, true}) {
      const auto lengths = masked ? subject.lengths({(n + 1) / 2, n, 1}) : std::vector<std::int64_t>{};
      const auto in = inputs_of(n, lengths).to(setting.type);
      auto others = inputs_of(n, lengths, 8).to(setting.type);
      for (auto* x : {&others.keys, &others.values, &others.queries}) *x *= 100;
      const auto mixed = [](const Tensor& own, const Tensor& mates) {
        return ablate::cat({own.narrow(0, 0, 1), mates.narrow(0, 1, 2)});
      };
      others = {mixed(in.queries, others.queries), mixed(in.keys, others.keys), mixed(in.values, others.values), in.mask};
      // Other lengths in the batch change the order of sums in methods that group items by length.
      if (masked && setting.type == kDouble) others.mask = padding_mask({lengths[0], subject.length(2), n}, n);
      const auto together = pass(*compression, in);
      const auto place = fmt::format("{}, {} tokens{}", setting.text(), n, masked ? ", masked" : "");
      finding.near(whole_item(pass(*compression, others), 0), whole_item(together, 0), place + ", other mates",
                   same_shape(setting.type));
      if (draws(together, finding)) continue;
      const auto own = masked ? lengths[0] : n;
      const auto alone = pass(*compression, in.item(0, own), {.offsets = {n / 2}});
      compare_items(finding, whole_item(together, 0, own), whole_item(alone, 0), place + ", against the item alone",
                    setting.type);
    }
  };
  for (const auto rate : subject.rates())
    for (const auto& setting : subject.settings({rate})) look(setting, subject.length(11));
  batch_of_held(subject, finding);
  if (!subject.full()) return;
  for (const std::int64_t n : {65, 300})
    for (const auto& setting : subject.settings(subject.usual(), n)) look(setting, subject.length(n));
}

void additive(const CompressionSubject& subject, Finding& finding) {
  for (const auto at_least : {13, 65}) {
    if (at_least > 13 && !subject.full()) break;
    for (const auto& slots : {subject.usual(), subject.uneven()})
      for (const bool training : {false, true})
        for (const bool masked : {false, true}) {
          const auto n = subject.length(at_least);
          const CompressionSetting setting{slots, kDouble, training, n};
          const auto compression = subject.make(setting);
          const auto lengths = masked ? subject.lengths({n, (n + 1) / 2, 2, 0}) : std::vector<std::int64_t>{n, n, n};
          const auto in = inputs_of(n, masked ? lengths : std::vector<std::int64_t>{});
          const PassOptions options{.offsets = {n / 2}};
          const auto whole = pass(*compression, in, options);
          if (draws(whole, finding)) continue;
          std::vector<Named> sum;
          for (std::size_t i = 0; i < lengths.size(); ++i) {
            if (lengths[i] == 0) continue;
            const auto part = of_parameters(pass(*compression, in.item(static_cast<std::int64_t>(i), lengths[i]), options));
            for (std::size_t j = 0; j < part.size(); ++j)
              j < sum.size() ? void(sum[j].value = sum[j].value + part[j].value) : sum.push_back(part[j]);
          }
          finding.near(of_parameters(whole), sum, fmt::format("{}, {} tokens{}", setting.text(), n, masked ? ", masked" : ""),
                       kRounding);
        }
  }
}

void calls(const CompressionSubject& subject, Finding& finding) {
  const auto look = [&](const CompressionSetting& setting, std::int64_t n) {
    const auto first = inputs_of(n, subject.lengths({n, n * 5 / 12, 0}), 7).to(setting.type);
    const auto second = inputs_of(n, subject.lengths({3, n, n * 7 / 12}), 8).to(setting.type);
    const auto plain = inputs_of(n, {}, 9).to(setting.type);
    const auto shorter = second.tokens(0, subject.length(n * 7 / 12));
    const auto what = [n](const char* order) { return fmt::format("{} tokens, {}", n, order); };
    look_after(subject, finding, setting, first, second, what("a second mask of one shape"));
    look_after(subject, finding, setting, second, first, what("a second mask of one shape"));
    if (n > subject.length(12)) return;
    look_after(subject, finding, setting, plain, first, what("a mask after none"));
    look_after(subject, finding, setting, first, plain, what("no mask after one"));
    look_after(subject, finding, setting, shorter, first, what("a longer sequence after a short one"));
    look_after(subject, finding, setting, first, shorter, what("a short sequence after a longer one"));

    // A memory belongs to the caller: the next call must not write into it.
    const auto compression = subject.make(setting);
    const auto memory = write(*compression, first);
    const auto before = copies({memory.values, read(*compression, first.queries, memory, Similarity::kSoftmax)});
    write(*compression, second);
    finding.near(memory.values, before[0], setting.text() + ", a memory after the next write", kExact);
    finding.near(read(*compression, first.queries, memory, Similarity::kSoftmax), before[1],
                 setting.text() + ", a read after the next write", kExact);
  };
  const auto n = subject.length(12);
  for (const auto& setting : subject.settings(subject.usual())) look(setting, n);
  if (subject.full())
    for (const std::int64_t longer : {65, 150})
      for (const auto& setting : subject.settings(subject.usual(), longer)) look(setting, subject.length(longer));
  // After a move to another type, numbers cached in the old type are useless.
  const CompressionSetting wide{subject.usual(), kDouble}, narrow{subject.usual(), kFloat};
  const auto in = inputs_of(n, subject.lengths({12, 5, 0}));
  const auto moved = subject.make(wide);
  pass(*moved, in);
  move_to(moved.get(), moved.device(), kFloat);
  finding.near(pass(*moved, in.to(kFloat)).outputs, pass(*subject.make(narrow), in.to(kFloat)).outputs,
               "moved to float32 after a call in float64", same_shape(kFloat));
}

void inputs(const CompressionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings(subject.usual())) {
    const auto compression = subject.make(setting);
    const auto n = subject.length(12);
    for (const bool masked : {true, false}) {
      const auto in = inputs_of(n, masked ? subject.lengths({12, 5, 0}) : std::vector<std::int64_t>{})
                          .to(setting.type)
                          .to(compression.device());
      const auto place = setting.text() + (masked ? ", masked" : "");
      const auto look = [&](const std::vector<Tensor>& now, const std::vector<Tensor>& before, const std::string& who) {
        static constexpr const char* names[] = {"queries", "keys", "values", "mask or slots", "mass", "scale"};
        for (std::size_t i = 0; i < now.size(); ++i)
          if (now[i].defined())  // the scale of an item without a token is minus infinity
            finding.near(now[i].nan_to_num(), before[i].nan_to_num(), place + ", " + who + ", " + names[i], kExact);
      };
      const auto kept = [](const std::vector<Tensor>& tensors) {
        std::vector<Tensor> all;
        for (const auto& tensor : tensors) all.push_back(tensor.defined() ? tensor.clone() : tensor);
        return all;
      };
      const std::vector<Tensor> given = {in.queries, in.keys, in.values, in.mask};
      const auto before = kept(given);
      const auto memory = on(compression.device(), write(*compression, in));
      look(given, before, "after a write");
      const std::vector<Tensor> held = {in.queries, memory.keys, memory.values, memory.slots, memory.mass, memory.log_scale};
      const auto unread = kept(held);
      for (const auto similarity : kSimilarities) {
        read(*compression, in.queries, memory, similarity);
        if (subject.promises().causal_reads) read(*compression, in.queries, memory, similarity, n / 2);
      }
      look(held, unread, "after a read");
    }
  }
}

void no_queries(const CompressionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings(subject.usual())) {
    const auto n = subject.length(12);
    for (const bool masked : {true, false}) {
      const auto in = inputs_of(n, masked ? subject.lengths({12, 5, 0}) : std::vector<std::int64_t>{}).to(setting.type);
      auto others = in, none = in;
      others.queries = normal(in.queries.sizes(), 41, setting.type);
      none.queries = Tensor();
      const auto written = [&](const CompressionInputs& given) { return named(write(*subject.make(setting), given)); };
      const auto place = setting.text() + (masked ? ", masked" : "") + ", written without queries";
      const auto found = written(none), expected = written(in), otherwise = written(others);
      finding.finite(found, place);
      // If queries do not change the memory, a write without queries must equal a write with queries.
      const bool asks = std::mismatch(expected.begin(), expected.end(), otherwise.begin(), [](const auto& a, const auto& b) {
                          return a.value.equal(b.value);
                        }).first != expected.end();
      if (!asks) finding.near(found, expected, place, same_shape(setting.type));
    }
  }
}

void batch_of_many(const CompressionSubject& subject, Finding& finding) {
  auto all = every_length(7);
  all.insert(all.end(), std::begin(kTurning), std::end(kTurning));
  for (const auto n : lengths_for(subject, all)) eight_alone(subject, subject.usual(), n, finding);
}

}  // namespace ablate::conformance
