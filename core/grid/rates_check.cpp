#include "core/grid/rates_check.h"

#include <fmt/format.h>

#include "core/grid/diagnostics.h"
#include "core/grid/schema.h"
#include "core/util/rate_text.h"

namespace ablate {

std::vector<Diagnostic> check_rates(const Study& study,
                                    const std::function<std::int64_t(const nlohmann::json& task_section)>& length) {
  Diagnostics diagnostics(study.overrides);
  std::map<nlohmann::json, std::int64_t> lengths;
  for (const auto& trial : study.trials) {
    const auto& task = trial.resolved.at("task");
    auto known = lengths.find(task);
    if (known == lengths.end()) known = lengths.emplace(task, length(task)).first;
    const auto tokens = known->second;
    for (const auto& path : trial.rate_paths) {
      const auto [section, key] = split_path(path);
      if (section == "task") continue;
      const auto& value = trial.resolved.at(section).at(key);
      for (const auto& text : value.is_array() ? value : nlohmann::json::array({value})) {
        const auto rate = parse_rate(text.get<std::string>());
        if (!rate || rate->numerator * tokens >= rate->denominator) continue;
        // A default has no place of its own: the plugin that has it stands for it.
        auto where = trial.where.find(path);
        if (where == trial.where.end()) where = trial.where.find(section + ".plugin");
        diagnostics.add(where == trial.where.end() ? Location{study.file.string(), 0, 0} : where->second,
                        fmt::format("{}: {} leaves less than one slot of a sequence of {} tokens; the smallest rate is 1/{}",
                                    path, text.get<std::string>(), tokens, tokens));
      }
    }
  }
  return diagnostics.sorted();
}

}  // namespace ablate
