#include "core/registry/promises.h"

namespace ablate {

std::span<const Promise> promises() {
  using C = Capabilities;
  static constexpr Promise all[] = {
      {"causal", &C::causal, true, false, "an output can depend on its own and earlier positions only"},
      {"bidirectional", &C::bidirectional, true, false, "can be built without causal"},
      {"key_padding", &C::key_padding, true, false, "padded tokens change nothing"},
      {"holes", &C::holes, true, false, "tokens may be missing anywhere"},
      {"cross_attention", &C::cross_attention, true, false, "queries and context may differ"},
      {"stateful", &C::stateful, true, false, "carries a state from segment to segment"},
      {"recurrent", &C::recurrent, true, false, "gives the same outputs for a sequence, its segments or its tokens"},
      {"sparse", &C::sparse, true, true, "some outputs ignore tokens that they may see"},
      {"rotary", &C::rotary, true, false, "queries and keys can be turned by their positions"},
      {"weight_dropout", &C::weight_dropout, true, false, "attention weights can be dropped in training"},
      {"averages", &C::averages, true, true, "if all tokens are alike, their number makes no difference"},
      {"slots_have_keys", &C::slots_have_keys, false, true, "a slot's key may be projected after compression"},
      {"lossless_at_rate_1", &C::lossless_at_rate_1, false, true, "at rate 1 nothing is lost"},
      {"causal_reads", &C::causal_reads, false, true, "a query can read only the slots that are complete before it"},
      {"fixed_slots", &C::fixed_slots, false, true, "can keep a fixed number of slots"},
      {"extends", &C::extends, false, true, "new tokens can be written into an existing memory"},
      {"beside_tokens", &C::beside_tokens, false, true, "one softmax may include slots and tokens"},
      {"half_precision", &C::half_precision, true, true, "float16 and bfloat16, besides float32 and float64"},
      {"cuda", &C::cuda, true, true, "runs on CUDA devices, besides the CPU"},
      {"deterministic", &C::deterministic, true, true, "same seed, same bits"},
  };
  return all;
}

}  // namespace ablate
