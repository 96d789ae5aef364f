#include "core/trial/model/attention_place.h"

namespace ablate {

AttentionPlace attention_place(const ModelOptions& options, bool carries) {
  AttentionPlace place{.d_model = options.d_model,
                       .width = options.attention_width,
                       .max_length = options.length(),
                       .train_length = options.task.train_length > 0
                                           ? options.task.train_length + options.length() - options.task.length
                                           : options.length(),
                       .prefix = options.class_token() ? 1 : 0,
                       .layers = options.layers,
                       .causal = options.causal,
                       .carries = carries,
                       .dropout = options.attention_dropout,
                       .fused = options.kernels == kernels::Choice::kFused,
                       .positions = options.positions,
                       .geometry = options.task.geometry};
  // With segments, an attention reads one segment at a time. A segment of a picture is not a picture: it has no geometry.
  if (options.segment > 0) place.max_length = place.train_length = options.segment, place.prefix = 0, place.geometry = {};
  return place;
}

}  // namespace ablate
