// Softmax regression on the numbers at all positions: reals, or the grey values of a picture, whose ids are numbers.
#include <algorithm>

#include "core/shared/objectives.h"
#include "core/trial/floors/softmax_regression.h"

namespace ablate {
namespace {

constexpr std::int64_t kMostValues = 1 << 16;

/// Returns the count of numbers at each position of a field.
std::int64_t width_of(const TaskInfo& info, const Field& field) {
  return field.vocabulary == 0 ? field.reals : info.geometry.rows > 0 ? 1 : 0;
}

std::int64_t values_of(const TaskInfo& info) {
  std::int64_t width = 0;
  for (const auto& field : info.fields) width += width_of(info, field);
  return width * info.length * info.sequences;
}

bool concerns_values(const TaskInfo& info) {
  const auto count = values_of(info);
  return !asks_of(info.objective).each && info.classes <= kMostRegressed && count > 0 && count <= kMostValues;
}

TrainedPredictor train_values(const LearnedData& data) {
  const auto& info = data.info();
  const auto extract = [&info](const Example& example, std::size_t, std::vector<SparseFeature>& features) {
    std::uint32_t index = 0;
    for (std::size_t part = 0; part < example.present.size() * info.fields.size(); ++part) {
      const auto& field = info.fields[part % info.fields.size()];
      const auto width = static_cast<std::size_t>(width_of(info, field));
      const auto& present = example.present[part / info.fields.size()];
      for (std::size_t i = 0; i < present.size() * width; ++i, ++index) {
        if (present[i / width] == 0) continue;
        const float value = field.vocabulary > 0
                                ? static_cast<float>(example.ids[part][i]) / static_cast<float>(field.vocabulary)
                                : example.reals[part][i];
        if (value != 0) features.push_back({index, value});
      }
    }
  };
  return train_regression(data, static_cast<std::size_t>(values_of(info)), extract);
}

}  // namespace

const PredictorKind predictors::values = {"linear on the values", concerns_values, train_values};

}  // namespace ablate
