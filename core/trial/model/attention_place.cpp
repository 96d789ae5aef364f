#include "core/trial/model/attention_place.h"

namespace ablate {

AttentionPlace attention_place(const ModelOptions& options, bool carries) {
  return {.d_model = options.d_model,
          .max_length = options.places(),
          .train_length = options.task.train_length > 0 ? options.task.train_length + options.places() - options.task.length
                                                        : options.places(),
          .prefix = options.class_token() ? 1 : 0,
          .layers = options.layers,
          .causal = options.task.causal,
          .carries = carries,
          .dropout = options.attention_dropout,
          .positions = options.positions,
          .geometry = options.task.geometry};
}

}  // namespace ablate
