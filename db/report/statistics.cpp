#include "db/report/statistics.h"

namespace ablate::db {

const std::vector<const Statistic*>& all_statistics() {
  static const std::vector<const Statistic*> all = {
#define ABLATE_STATISTIC(file) &statistics::file,
      ABLATE_STATISTICS(ABLATE_STATISTIC)
#undef ABLATE_STATISTIC
  };
  return all;
}

void run_statistics(const AskedStatistics& asked, Table& table) {
  for (const auto* statistic : all_statistics())
    if (const auto values = asked.find(statistic->option); values != asked.end())
      statistic->run(values->second, table);
    else if (*statistic->option == '\0')
      statistic->run({}, table);
}

}  // namespace ablate::db
