#include "core/trial/conformance/compression_checks.h"

#include <fmt/format.h>

#include "core/registry/plugin_info.h"
#include "core/trial/conformance/compression_suite.h"
#include "core/trial/conformance/device_checks.h"

namespace ablate {

template <typename Measure>
void CompressionSuite::check(const char* name, double tolerance, Measure measure) {
  const auto place = probe_.candidate().name() + (on_.empty() ? "" : ", " + on_);
  checks_.run(name, place, tolerance, [&](std::string& where) {
    found_.clear();
    const double error = measure();
    where = found_;
    return error;
  });
}

double CompressionSuite::at(const std::string& place, double error, double tolerance) {
  if (!(error <= tolerance) && found_.empty()) found_ = place;
  return error;
}

void CompressionSuite::all() {
  check("slots", 0, [&] { return slots(); });
  check("padding", 1e-10, [&] { return padding(); });
  check("poison", 0, [&] { return poison(); });
  check("empty", 0, [&] { return empty(); });
  check("batch", 1e-10, [&] { return batch(); });
  check("seed", 0, [&] { return seed(); });
  check("instances", 0, [&] { return instances(); });
  check("save", 0, [&] { return save(); });
  check("step", 0, [&] { return step(); });
  check("kept", 0, [&] { return kept(); });
  check("inputs", 0, [&] { return inputs(); });
  check("gradient", 1e-5, [&] { return gradient(); });
  check("scale", 0, [&] { return scale(); });
  check("frozen", 0, [&] { return frozen(); });
  check("training", 0, [&] { return training(); });
  check("type", 1e-3, [&] { return type(); });
  if (probe_.promises().half_precision) check("half", 0.05, [&] { return half(); });
  if (probe_.promises().averages) check("constants", 1e-10, [&] { return constants(); });
  if (probe_.promises().lossless_at_rate_1) check("lossless", 1e-10, [&] { return lossless(); });
  if (probe_.promises().slots_have_keys) check("projected", 0, [&] { return projected(); });
  if (probe_.promises().causal_reads) check("causal reads", 1e-10, [&] { return causal_reads(); });
  if (probe_.promises().fixed_slots) check("fixed slots", 1e-10, [&] { return fixed_slots(); });
  if (probe_.promises().extends) check("extends", 1e-10, [&] { return extends(); });
}

void CompressionSuite::runs() {
  check("runs", 0, [&] { return training(); });
}

void check_compression(const Candidate& candidate, Checks& checks) {
  CompressionSuite(candidate, "", checks).all();
  if (candidate.promises.cuda)
    check_device(
        candidate.name(), [&](c10::Device device) { return compression_on(candidate, device); }, find_cuda(), checks);
  for (const auto& parameter : describe(candidate.descriptor()).parameters) {
    const auto with = [&](const nlohmann::json& value) {
      return CompressionSuite(candidate.with(parameter.name, value), fmt::format("{} = {}", parameter.name, value.dump()),
                              checks);
    };
    const auto& chosen = candidate.section.at(parameter.name);
    switch (parameter.type) {
      case ParameterType::kBoolean:
        with(!chosen.get<bool>()).all();
        break;
      case ParameterType::kText:
        for (const auto& choice : parameter.choices)
          if (choice != chosen.get<std::string>()) with(choice).all();
        break;
      case ParameterType::kInteger:
        with(static_cast<std::int64_t>(parameter.minimum)).runs();
        with(static_cast<std::int64_t>(parameter.maximum)).runs();
        break;
      case ParameterType::kReal:
        with(parameter.minimum).runs();
        with(parameter.maximum).runs();
        break;
      case ParameterType::kRate:
      case ParameterType::kRates:
        break;  // any rate is as good as another: kCheckedRates are the instance's own
      case ParameterType::kFile:
      case ParameterType::kPlugin:
      case ParameterType::kPlugins:
        break;  // no bounds
    }
  }
}

}  // namespace ablate
