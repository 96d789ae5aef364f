// Conversion of messages to JSON by their fields, for the sources that list fields of messages. Torch-free.
#pragma once

#include <tuple>

#include "core/shared/fields.h"
#include "core/shared/jobs.h"

namespace ablate {

template <>
struct TextOf<PluginSpec> {
  static constexpr const char* expected = "a plugin's section";
  static nlohmann::json to(const PluginSpec& plugin) { return to_json(plugin); }
  static PluginSpec from(const nlohmann::json& value) { return plugin_from_json(value); }
};

void fields(auto& f, Is<PlannedFile> auto& m) {
  f("parameter", m.parameter);
  f("file", m.file);
  f("digest", m.digest);
}

void fields(auto& f, Is<Libraries> auto& m) {
  f("libraries", m.paths);
  f("hashes", m.hashes);
}

template <Message M>
nlohmann::json to_json(const M& message) {
  auto text = nlohmann::json::object();
  FieldWriter writer(text);
  fields(writer, message);
  return text;
}

template <Message M>
M from_json(const nlohmann::json& text) {
  M message;
  FieldReader reader(text, M::kName);
  fields(reader, message);
  return message;
}

/// Conversion functions of a message, selected by type, because to_json and from_json are overloaded.
template <Message M>
struct JsonOf {
  nlohmann::json (*to)(const M&) = &to_json<M>;
  M (*from)(const nlohmann::json&) = &from_json<M>;
};

/// Instantiates the conversion functions of these messages in the source that stores the result, for all callers.
template <class... M>
constexpr auto json_of() {
  return std::tuple(JsonOf<M>()...);
}

}  // namespace ablate
