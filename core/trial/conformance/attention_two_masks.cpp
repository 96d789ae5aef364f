// Two sequences of one length with masks of their own: neither is taken for the other.
#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "core/trial/conformance/attention_context.h"

namespace ablate::conformance {
namespace {

struct TwoMasks {
  const AttentionSubject& subject;
  const Setting& setting;
  std::int64_t n;
  Finding& finding;

  std::vector<std::int64_t> of_queries() const { return {subject.length(n * 5 / 13), n, subject.length(n * 8 / 13)}; }
  std::vector<std::int64_t> of_keys() const {
    if (!subject.promises().key_padding) return {n, n, n};
    return {n, subject.length(n * 8 / 13), subject.length(1)};
  }
  Tensor keys_mask() const { return subject.promises().key_padding ? padding_mask(of_keys(), n) : Tensor(); }

  /// A query behind the last key has all of them before it. Slots of many tokens may not be complete with few.
  void still_read(const Tensor& clean, const Tensor& others, const std::string& where) const {
    if (subject.promises().sparse || !subject.full() || (setting.stand.causal && n < 100)) return;
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto last = of_queries()[static_cast<std::size_t>(i)] - 1;
      if (last >= of_keys()[static_cast<std::size_t>(i)] && clean[i][last].equal(others[i][last]))
        throw std::runtime_error(
            fmt::format("{}: item {}, query {}, behind the last of its keys, reads none of them", where, i, last));
    }
  }

  void look() const {
    const auto instance = subject.make(1, setting, n);
    const auto queries = random_tokens(3, n, 3, setting.type), context = random_tokens(3, n, 2, setting.type);
    const auto query_mask = padding_mask(of_queries(), n), mask = keys_mask();
    const auto where = fmt::format("{}, {} queries and as many keys, each under a mask of its own", setting.text(), n);
    const auto outcome = [&](const Tensor& asked, const Tensor& read, const Tensor& asking) {
      return real(run(*instance, {.queries = asked, .context = read, .mask = mask, .query_mask = asking}), query_mask);
    };
    const auto clean = outcome(queries, context, query_mask);
    const auto allowed = same_shape(setting.type);
    const auto gone = query_mask.logical_not().unsqueeze(-1);
    finding.near(outcome(queries.masked_fill(gone, 1e3), context, query_mask), clean, where + ": other queries under theirs",
                 allowed);
    if (mask.defined()) {
      const auto padding = mask.logical_not().unsqueeze(-1);
      for (const double value : {1e3, std::numeric_limits<double>::quiet_NaN()})
        finding.near(outcome(queries, context.masked_fill(padding, value), query_mask), clean,
                     fmt::format("{}: {} in the keys under theirs", where, value), allowed);
    }
    if (setting.type != kDouble || subject.draws(setting, finding)) return;
    // A real query sees none of the padded ones where it sees nothing later; else they are cut off.
    if (setting.stand.causal) {
      finding.near(outcome(queries, context, {}), clean, where + ", against queries that are all there");
      still_read(clean, outcome(queries, context * -3, query_mask), where);
    }
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto asking = of_queries()[static_cast<std::size_t>(i)], read = of_keys()[static_cast<std::size_t>(i)];
      const auto both = setting.stand.causal ? std::min(asking, read) : 0;  // one position counts for both there
      finding.near(item(clean, i, both > 0 ? both : asking),
                   run(*instance, {item(queries, i, both > 0 ? both : asking), item(context, i, both > 0 ? both : read)}),
                   fmt::format("{}: item {} against its {} queries over its {} keys alone", where, i, asking, read));
    }
  }
};

}  // namespace

void two_masks(const AttentionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings()) {
    if (setting.stand.carries) continue;
    TwoMasks{subject, setting, subject.length(13), finding}.look();
    if (subject.full() && setting.plain()) TwoMasks{subject, setting, subject.length(150), finding}.look();
  }
}

}  // namespace ablate::conformance
