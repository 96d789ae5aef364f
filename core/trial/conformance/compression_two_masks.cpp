// As many queries as tokens, each under a mask of its own: neither is taken for the other.
#include <fmt/format.h>

#include <cmath>

#include "core/trial/conformance/compression_contract.h"

namespace ablate::conformance {
namespace {

/// What the queries that are there read.
std::vector<Named> asked(const std::vector<Named>& outputs, const Tensor& query_mask) {
  std::vector<Named> all;
  for (const auto& [what, value] : outputs)
    all.push_back({what, value.masked_fill(query_mask.logical_not().unsqueeze(1).unsqueeze(-1), 0)});
  return all;
}

void under_two(const CompressionSubject& subject, const CompressionSetting& setting, std::int64_t n, Finding& finding) {
  const auto compression = subject.make(setting);
  const std::vector<std::int64_t> tokens = {n, subject.length(n * 8 / 13), subject.length(1)},
                                  asking = {subject.length(n * 5 / 13), n, subject.length(n * 8 / 13)};
  auto in = inputs_of(n, tokens).to(setting.type);
  in.queries = normal({3, CompressionSubject::kHeads, n, CompressionSubject::kChannels}, 12, setting.type);
  in.query_mask = padding_mask(asking, n);
  const PassOptions options{.offsets = {0}, .with_gradients = false};
  const auto clean = pass(*compression, in, options);
  const auto where = fmt::format("{}, {} queries and as many tokens, each under a mask of its own", setting.text(), n);
  const auto alike = [&](const CompressionInputs& other, const std::string& what) {
    const auto found = pass(*compression, other, options);
    finding.near(named(found.memory), named(clean.memory), where + what, same_shape(setting.type));
    finding.near(asked(found.outputs, in.query_mask), asked(clean.outputs, in.query_mask), where + what,
                 same_shape(setting.type));
  };
  alike(in.padded_with(std::nan("")), ": NaN in the tokens under theirs");
  alike(in.padded_with(1000), ": 1000 in the tokens under theirs");
  auto other = in;
  other.queries = in.queries.masked_fill(in.query_mask.logical_not().unsqueeze(1).unsqueeze(-1), 1000);
  alike(other, ": other queries under theirs");
  if (setting.type != kDouble) return;
  if (clean.drew) return finding.leave(kDraws);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    auto own = in.item(at, tokens[i]);
    own.queries = own.queries.narrow(2, 0, asking[i]);
    auto found = item_of(clean.outputs, at);
    for (auto& one : found) one.value = one.value.narrow(2, 0, asking[i]);
    finding.near(found, pass(*compression, own, options).outputs,
                 fmt::format("{}: item {} against its {} queries and {} tokens alone", where, i, asking[i], tokens[i]),
                 kRounding);
  }
}

}  // namespace

void two_masks(const CompressionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings(subject.usual())) under_two(subject, setting, subject.length(13), finding);
}

}  // namespace ablate::conformance
