#include "core/trial/model/instances.h"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include "core/registry/plugin_info.h"
#include "core/registry/values.h"
#include "core/trial/model/checked_compression.h"
#include "core/util/error.h"

namespace ablate {

Chosen with_defaults(const Descriptor& descriptor, const nlohmann::json& parameters) {
  const auto info = describe(descriptor);
  Chosen chosen{&descriptor, nlohmann::json::object()};
  for (const auto& parameter : info.parameters)
    if (!parameter.plugin_kind()) chosen.parameters[parameter.name] = parameter.default_value;
  for (const auto& [name, value] : parameters.items()) {
    const auto* parameter = info.find(name);
    if (parameter == nullptr) throw Error(fmt::format("{} has no parameter {}", info.id, name));
    const auto checked = check_value(*parameter, value);
    if (!checked.ok()) throw Error(fmt::format("{}.{} = {}: expected {}", info.id, name, value.dump(), checked.expected));
    chosen.parameters[name] = checked.value;
  }
  return chosen;
}

torch::Generator make_generator(std::uint64_t seed) { return at::detail::createCPUGenerator(seed); }

std::shared_ptr<Compression> make_compression(const Chosen& plugin, Rate rate, std::int64_t heads, std::int64_t d_head,
                                              std::int64_t max_length, torch::Generator generator) {
  const JsonValues values(plugin.parameters);
  auto made = plugin.descriptor->make_compression({values, rate, heads, d_head, max_length, std::move(generator)});
  if (!made) throw Error(fmt::format("compression {}: its factory returned nothing", plugin.descriptor->id), ExitCode::kPlugin);
  return checked(std::move(made), plugin.descriptor->id, rate, plugin.descriptor->capabilities.slots_have_keys);
}

std::shared_ptr<Attention> make_attention(const Chosen& plugin, const Chosen& compression, AttentionShape shape,
                                          torch::Generator generator) {
  const JsonValues values(plugin.parameters);
  const auto& capabilities = plugin.descriptor->capabilities;
  if (shape.causal && !capabilities.causal)
    throw Error(fmt::format("attention {} does not promise causal attention", plugin.descriptor->id));
  AttentionContext context{values, shape.d_model, shape.max_length, shape.causal, generator, {}, false};
  if (!capabilities.takes_compression) {
    context.make_compression = [](Rate, std::int64_t, std::int64_t) -> std::shared_ptr<Compression> {
      throw std::logic_error("the plugin asks for a compression, but does not promise takes_compression");
    };
  } else {
    if (compression.descriptor == nullptr)
      throw Error(fmt::format("attention {} takes a compression, and none was chosen", plugin.descriptor->id));
    context.slots_have_keys = compression.descriptor->capabilities.slots_have_keys;
    context.make_compression = [&](Rate rate, std::int64_t heads, std::int64_t d_head) {
      return make_compression(compression, rate, heads, d_head, shape.max_length, generator);
    };
  }
  auto made = plugin.descriptor->make_attention(context);
  if (!made) throw Error(fmt::format("attention {}: its factory returned nothing", plugin.descriptor->id), ExitCode::kPlugin);
  return made;
}

void move_to(torch::nn::Module& module, c10::Device device, torch::Dtype type) {
  auto tensors = module.parameters();
  for (const auto& buffer : module.buffers()) tensors.push_back(buffer);
  // In place, so that whoever holds the tensor holds the moved one.
  for (auto& tensor : tensors) tensor.set_data(tensor.to(device, tensor.is_floating_point() ? type : tensor.scalar_type()));
}

}  // namespace ablate
