#include "db/report/statistics.h"

#include "core/util/error.h"

namespace ablate::db {

const std::vector<const Statistic*>& all_statistics() {
  static const std::vector<const Statistic*> all = {
#define ABLATE_STATISTIC(file) &statistics::file,
      ABLATE_STATISTICS(ABLATE_STATISTIC)
#undef ABLATE_STATISTIC
  };
  return all;
}

std::string refusal_together(const AskedStatistics& asked) {
  if (asked.contains("test") && !asked.contains("against") && !asked.contains("contrasts"))
    return "test: found neither --against nor --contrasts, expected one of them: they choose what is tested";
  return "";
}

void run_statistics(const AskedStatistics& asked, Table& table) {
  if (const auto why = refusal_together(asked); !why.empty()) throw Error("--" + why);
  for (const auto* statistic : all_statistics())
    if (const auto values = asked.find(statistic->option); values != asked.end())
      statistic->run(values->second, table);
    else if (*statistic->option == '\0')
      statistic->run({}, table);
    else
      for (auto& cell : table.cells) cell.facts.insert(cell.facts.end(), statistic->blank.begin(), statistic->blank.end());
}

}  // namespace ablate::db
