// Schema of a plugin's parameters: the one declaration that validation, help, documentation and storage use. Torch-free, plain
// data: everything here is a literal type in the plugin's read-only memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace ablate {

enum class ParameterType : std::int32_t {
  kBoolean,
  kInteger,
  kReal,
  kText,   ///< one of `choices`, or any text if there are none
  kRate,   ///< a compression rate in (0, 1]: "1/8" or 0.125
  kRates,  ///< a list of 1 to 64 rates
  kFile,   ///< path of a file; its content is part of a trial's identity
  /// Another plugin of the kind in `choices`, with its own parameters: a section of the study. The parameter has no default.
  kPlugin,
  kPlugins,  ///< a list of 1 to 16 plugins: sections [[attention.parts]]; path of a value: attention.parts.0.heads
};

/// One parameter. Its texts are static storage of the library, which is never unloaded. Any thread of the host may read it. The
/// host refuses a library whose schema breaks the rules below, and names the parameter.
struct Parameter {
  const char* name;  ///< snake_case; "plugin" is reserved
  ParameterType type;
  const char* default_value;  ///< in JSON: 2, 0.1, true, "relu", "1/8", ["1/2", "1/4"]; must lie in the range
  double minimum;             ///< integer, real: smallest value allowed
  double maximum;             ///< integer, real: largest value allowed
  const char* choices;  ///< text: the values allowed, separated by '|'; "" allows any. Plugins: "attention" or "compression"
  const char* unit;     ///< "tokens", "s", ...; "" for a plain number
  const char* help;     ///< one line, without a full stop
  /// Condition: the parameter is read only with this value of another parameter, "kind = noisy-recall"; "": always.
  const char* when = "";
};

/// Range that includes both ends.
struct Range {
  double minimum = std::numeric_limits<double>::lowest();
  double maximum = std::numeric_limits<double>::max();
};

constexpr Parameter boolean(const char* name, const char* default_value, const char* help) {
  return {name, ParameterType::kBoolean, default_value, 0, 1, "", "", help};
}
constexpr Parameter integer(const char* name, const char* default_value, Range range, const char* help, const char* unit = "") {
  return {name, ParameterType::kInteger, default_value, range.minimum, range.maximum, "", unit, help};
}
constexpr Parameter real(const char* name, const char* default_value, Range range, const char* help, const char* unit = "") {
  return {name, ParameterType::kReal, default_value, range.minimum, range.maximum, "", unit, help};
}
/// @param default_value with its JSON quotes: "\"relu\"".
/// @param choices "relu|elu+1", or "" for any text.
constexpr Parameter text(const char* name, const char* default_value, const char* choices, const char* help) {
  return {name, ParameterType::kText, default_value, 0, 0, choices, "", help};
}
constexpr Parameter rate(const char* name, const char* default_value, const char* help) {
  return {name, ParameterType::kRate, default_value, 0, 1, "", "", help};
}
constexpr Parameter rates(const char* name, const char* default_value, const char* help) {
  return {name, ParameterType::kRates, default_value, 0, 1, "", "", help};
}

/// @param default_value "\"\"": no file
constexpr Parameter file(const char* name, const char* default_value, const char* help) {
  return {name, ParameterType::kFile, default_value, 0, 0, "", "", help};
}
/// @param kind "attention" or "compression"
constexpr Parameter plugin(const char* name, const char* kind, const char* help) {
  return {name, ParameterType::kPlugin, "", 0, 0, kind, "", help};
}
constexpr Parameter plugins(const char* name, const char* kind, const char* help) {
  return {name, ParameterType::kPlugins, "", 0, 0, kind, "", help};
}

/// Parameter that has an effect only if another parameter has a certain value: when("kind = noisy-recall", real("noise", ...)).
/// A study is refused if it sets the parameter and no trial reads it.
constexpr Parameter when(const char* condition, Parameter parameter) {
  parameter.when = condition;
  return parameter;
}

}  // namespace ablate
