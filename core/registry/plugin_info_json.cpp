#include "core/registry/plugin_info.h"
#include "core/registry/promises.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Calls visit(name, field) for every capability, in a fixed order, to write JSON and to read it.
template <class C, class F>
void each_capability(C& c, F visit) {
  for (const auto& promise : promises()) visit(promise.name, c.*promise.field);
  visit("length_multiple", c.length_multiple);
  visit("time_exponent", c.time_exponent);
  visit("memory_exponent", c.memory_exponent);
}

}  // namespace

json to_json(const Capabilities& capabilities) {
  json result;
  each_capability(capabilities, [&](const char* name, const auto& field) { result[name] = field; });
  return result;
}

Capabilities capabilities_from_json(const json& j) {
  Capabilities capabilities;
  each_capability(capabilities, [&](const char* name, auto& field) { j.at(name).get_to(field); });
  return capabilities;
}

json to_json(const PluginInfo& info) {
  json parameters = json::array();
  for (const auto& p : info.parameters)
    parameters.push_back({{"name", p.name},
                          {"type", to_text(p.type)},
                          {"default", p.default_value},
                          {"minimum", p.minimum},
                          {"maximum", p.maximum},
                          {"choices", p.choices},
                          {"unit", p.unit},
                          {"help", p.help},
                          {"when", p.when}});
  json exemptions = json::array(), oracles = json::array();
  for (const auto& e : info.exemptions)
    exemptions.push_back({{"check", e.check}, {"what", e.what}, {"why", e.why}, {"tolerance", e.tolerance}, {"when", e.when}});
  for (const auto& o : info.oracles) oracles.push_back({{"at", o.at}, {"plugin", o.plugin}, {"with", o.with}});
  return {{"kind", to_text(info.kind)},
          {"id", info.id},
          {"version", info.version},
          {"summary", info.summary},
          {"paper", info.paper},
          {"code_digest", info.code_digest},
          {"capabilities", to_json(info.capabilities)},
          {"promises_depend", info.promises_depend},
          {"parameters", parameters},
          {"exemptions", exemptions},
          {"oracles", oracles},
          {"path", info.path.string()},
          {"content_hash", info.content_hash}};
}

PluginInfo plugin_info_from_json(const json& j) {
  PluginInfo info;
  info.kind = kind_of_name(j.at("kind").get<std::string>()).value_or(info.kind);
  info.id = j.at("id"), info.version = j.at("version"), info.summary = j.at("summary"), info.paper = j.at("paper");
  info.code_digest = j.at("code_digest"), info.content_hash = j.at("content_hash");
  info.path = j.at("path").get<std::string>();
  info.capabilities = capabilities_from_json(j.at("capabilities")), info.promises_depend = j.at("promises_depend");
  for (const auto& e : j.at("exemptions"))
    info.exemptions.push_back({e.at("check"), e.at("what"), e.at("why"), e.at("tolerance"), e.at("when")});
  for (const auto& o : j.at("oracles")) info.oracles.push_back({o.at("at"), o.at("plugin"), o.at("with")});
  for (const auto& from : j.at("parameters")) {
    ParameterInfo p;
    for (const auto type :
         {ParameterType::kBoolean, ParameterType::kInteger, ParameterType::kReal, ParameterType::kText, ParameterType::kRate,
          ParameterType::kRates, ParameterType::kFile, ParameterType::kPlugin, ParameterType::kPlugins})
      if (from.at("type") == to_text(type)) p.type = type;
    p.name = from.at("name"), p.default_value = from.at("default"), p.minimum = from.at("minimum"),
    p.maximum = from.at("maximum");
    p.choices = from.at("choices").get<std::vector<std::string>>(), p.unit = from.at("unit"), p.help = from.at("help"),
    p.when = from.at("when");
    info.parameters.push_back(std::move(p));
  }
  return info;
}

}  // namespace ablate
