#include "db/history/durations.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "db/history/reader.h"
#include "db/history/schema.h"

namespace ablate::db {

Ran ran(const std::vector<UsedPlugin>& plugins) {
  Ran of;
  for (const auto& plugin : plugins)
    if (plugin.kind != "compression") of.emplace(plugin.kind, plugin.id);
  return of;
}

std::map<Ran, std::vector<DoneTime>> done_times(const Reader& reader) {
  return guarded(reader.file(), [&] {
    std::map<Ran, std::vector<DoneTime>> times;
    SQLite::Statement ask(reader.database(),
                          "SELECT a.id, a.wall_s, p.kind, p.name, a.steps, a.peak_resident_bytes FROM attempt a JOIN "
                          "plugin_of_set u ON u.plugin_set = a.plugin_set JOIN "
                          "plugin p ON p.id = u.plugin WHERE a.outcome = 'done' AND p.kind <> 'compression' ORDER BY a.id");
    Ran of;
    std::int64_t attempt = 0;
    DoneTime time{};
    const auto end = [&] {
      if (!of.empty()) times[of].push_back(time);
      of.clear();
    };
    while (ask.executeStep()) {
      if (const auto id = ask.getColumn(0).getInt64(); id != attempt) end(), attempt = id;
      time = {ask.getColumn(1).getDouble(), ask.getColumn(4).getInt64(), ask.getColumn(5).getInt64()};
      of.emplace(ask.getColumn(2).getString(), ask.getColumn(3).getString());
    }
    end();
    return times;
  });
}

}  // namespace ablate::db
