#include "core/trial/model/instances.h"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include "core/registry/plugin_info.h"
#include "core/shared/requirements.h"
#include "core/trial/model/refused_part.h"
#include "core/util/error.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Returns make(), and adds the part's path to a refusal. A refusal that already has the path of an inner part keeps that path.
template <class Make>
auto with_path(const std::string& path, const Make& make) try {
  return make();
} catch (const RefusedPart&) {
  throw;
} catch (const std::invalid_argument& why) {
  throw RefusedPart(path, why.what());
}

/// Factories of one attention's parts.
class SectionParts final : public Parts {
 public:
  SectionParts(const JsonValues& values, const PluginInfo& info, const AttentionPlace& place, const FindPlugin& find,
               const Generator& generator, SharedTensors& shared, std::string path)
      : values_(values),
        info_(info),
        place_(place),
        find_(find),
        generator_(generator),
        shared_(shared),
        path_(std::move(path)) {}

  std::shared_ptr<Attention> attention(const char* parameter, std::size_t index, std::int64_t width) override;

  std::shared_ptr<Compression> compression(const char* parameter, Slots slots, std::int64_t heads,
                                           std::int64_t d_head) override {
    return with_path(path_ + parameter, [&] {
      return make_compression(part(parameter, 0, Kind::kCompression), slots, heads, d_head, place_.max_length, find_,
                              generator_);
    });
  }

  Capabilities promises(const char* parameter, std::size_t index) const override {
    return promises_of(*declared(parameter).plugin_kind(), values_.part(parameter, index), find_);
  }

  Tensor shared(const char* name, const std::function<Tensor()>& make) override {
    const auto [found, is_new] = shared_.try_emplace(path_ + name);
    if (is_new) found->second = make();
    return found->second;
  }

 private:
  const ParameterInfo& declared(const char* parameter) const {
    const auto* found = info_.find(parameter);
    if (found == nullptr || !found->plugin_kind())
      throw std::logic_error(
          fmt::format("{} asks for a part \"{}\", which is no parameter that names plugins", info_.id, parameter));
    return *found;
  }
  const PluginSpec& part(const char* parameter, std::size_t index, Kind kind) const {
    if (*declared(parameter).plugin_kind() != kind)
      throw std::logic_error(
          fmt::format("{} asks for the {} \"{}\", which is of another kind", info_.id, to_text(kind), parameter));
    return values_.part(parameter, index);
  }

  const JsonValues& values_;
  const PluginInfo& info_;
  const AttentionPlace& place_;
  const FindPlugin& find_;
  const Generator& generator_;
  SharedTensors& shared_;
  std::string path_;
};

std::shared_ptr<Attention> make(const PluginSpec& plugin, const AttentionPlace& place, std::int64_t width,
                                const FindPlugin& find, const Generator& generator, SharedTensors& shared,
                                const std::string& path) {
  const auto& descriptor = find(Kind::kAttention, plugin.id);
  const auto can = promises_of(Kind::kAttention, plugin, find);
  const auto refused = unpromised(Kind::kAttention, descriptor.id, can,
                                  {.causal = place.causal,
                                   .rotary = place.positions == Positions::kRotary,
                                   .weight_dropout = place.dropout > 0,
                                   .length = place.max_length});
  if (!refused.empty()) throw Error(refused.front().what);
  const auto info = describe(descriptor);
  const JsonValues values(plugin, info);
  SectionParts parts(values, info, place, find, generator, shared, path);
  auto made = with_path(path.empty() ? path : path.substr(0, path.size() - 1), [&] {
    return descriptor.make_attention({.parameters = values,
                                      .d_model = place.d_model,
                                      .width = width,
                                      .max_length = place.max_length,
                                      .train_length = place.train_length > 0 ? place.train_length : place.max_length,
                                      .prefix = place.prefix,
                                      .layer = place.layer,
                                      .layers = place.layers,
                                      .causal = place.causal,
                                      .carries = place.carries && can.stateful,
                                      .dropout = place.dropout,
                                      .fused = place.fused,
                                      .positions = place.positions,
                                      .geometry = place.geometry,
                                      .generator = generator,
                                      .parts = parts});
  });
  if (!made) throw std::logic_error(fmt::format("attention {}: its factory returned nothing", descriptor.id));
  return made;
}

std::shared_ptr<Attention> SectionParts::attention(const char* parameter, std::size_t index, std::int64_t width) {
  return make(part(parameter, index, Kind::kAttention), place_, width, find_, generator_, shared_,
              fmt::format("{}{}.{}.", path_, parameter, index));
}

}  // namespace

json complete_section(const Descriptor& descriptor, const json& parameters, const FindPlugin& find) {
  const auto info = describe(descriptor);
  json section{{"plugin", info.id}};
  for (const auto& parameter : info.parameters)
    if (!parameter.plugin_kind()) section[parameter.name] = parameter.default_value;
  for (const auto& [name, value] : parameters.items()) {
    if (name == "plugin") continue;
    const auto* parameter = info.find(name);
    if (parameter == nullptr) throw Error(fmt::format("{} has no parameter {}", info.id, name));
    if (parameter->plugin_kind()) {
      const auto kind = *parameter->plugin_kind();
      const auto complete = [&](const json& part) { return complete_section(find(kind, part.at("plugin")), part, find); };
      if (parameter->type == ParameterType::kPlugin) {
        section[name] = complete(value);
      } else {
        section[name] = json::array();
        for (const auto& part : value) section[name].push_back(complete(part));
      }
      continue;
    }
    const auto checked = check_value(*parameter, value);
    if (!checked.ok()) throw Error(fmt::format("{}.{} = {}: expected {}", info.id, name, value.dump(), checked.expected));
    section[name] = checked.value;
  }
  for (const auto& parameter : info.parameters)
    if (!section.contains(parameter.name))
      throw Error(fmt::format("{} needs a plugin as its parameter {}", info.id, parameter.name));
  return section;
}

Capabilities promises_of(Kind kind, const PluginSpec& plugin, const FindPlugin& find) {
  const auto& descriptor = find(kind, plugin.id);
  if (descriptor.promises == nullptr) return descriptor.capabilities;
  std::vector<Capabilities> parts;
  const auto info = describe(descriptor);
  for (const auto& parameter : info.parameters)
    if (parameter.plugin_kind())
      for (const auto& part : plugin.parts.at(parameter.name).all)
        parts.push_back(promises_of(*parameter.plugin_kind(), part, find));
  return descriptor.promises(descriptor.capabilities, JsonValues(plugin, info), parts);
}

Generator make_generator(std::uint64_t seed) { return at::detail::createCPUGenerator(seed); }

std::shared_ptr<Attention> make_attention(const PluginSpec& plugin, const AttentionPlace& place, const FindPlugin& find,
                                          const Generator& generator, SharedTensors& shared, const std::string& path) {
  return make(plugin, place, place.width > 0 ? place.width : place.d_model, find, generator, shared, path);
}

std::shared_ptr<Compression> make_compression(const PluginSpec& plugin, Slots slots, std::int64_t heads, std::int64_t d_head,
                                              std::int64_t max_length, const FindPlugin& find, const Generator& generator) {
  const auto& descriptor = find(Kind::kCompression, plugin.id);
  const auto can = promises_of(Kind::kCompression, plugin, find);
  if (slots.fixed > 0 && !can.fixed_slots)
    throw std::invalid_argument(fmt::format("compression {} does not promise to keep a fixed number of slots", descriptor.id));
  const JsonValues values(plugin, describe(descriptor));
  auto made = descriptor.make_compression({values, descriptor.id, can, slots, heads, d_head, max_length, generator});
  if (!made) throw std::logic_error(fmt::format("compression {}: its factory returned nothing", descriptor.id));
  return made;
}

void move_to(Module& module, c10::Device device, at::ScalarType type) {
  const auto move = [&](std::vector<Module::Entry> entries) {
    for (auto& [name, tensor, kept] : entries)
      tensor.set_data(tensor.to(device, tensor.is_floating_point() && !kept.type ? type : tensor.scalar_type()));
  };
  move(module.parameters());
  move(module.buffers());
}

}  // namespace ablate
