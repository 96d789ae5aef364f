// A page of what the methods found say of themselves: docs/methods.md.
#pragma once

#include <span>
#include <string>

#include "core/registry/plugin_info.h"

namespace ablate {

/// Markdown: a table of attentions and one of compressions, in the order given; tasks are left out.
std::string methods_table(std::span<const PluginInfo> plugins);

/// A value as a person writes it: "1/8", "1/2,1/4", "relu".
std::string value_text(const nlohmann::json& value);

}  // namespace ablate
