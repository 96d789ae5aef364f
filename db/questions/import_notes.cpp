#include "db/questions/import_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "db/history/schema.h"

namespace ablate::db {

std::vector<std::string> import_notes(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    std::map<std::int64_t, std::string> files;  // by environment
    SQLite::Statement ask(reader.database(),
                          "SELECT id, json ->> '$.imported' FROM environment WHERE json_valid(json) AND json ->> '$.imported' "
                          "IS NOT NULL");
    while (ask.executeStep()) files[ask.getColumn(0).getInt64()] = ask.getColumn(1).getString();
    if (files.empty()) return std::vector<std::string>();

    std::vector<std::pair<std::string, int>> counts;
    for (const auto& trial : trials) {
      const auto file = files.find(trial.environment);
      if (file == files.end()) continue;
      const auto same = [&](const auto& one) { return one.first == file->second; };
      const auto at = std::find_if(counts.begin(), counts.end(), same);
      if (at == counts.end())
        counts.emplace_back(file->second, 1);
      else
        ++at->second;
    }
    std::vector<std::string> notes;
    for (const auto& [file, count] : counts)
      notes.push_back(count == 1 ? fmt::format("1 trial was imported from {}: it did not run here", file)
                                 : fmt::format("{} trials were imported from {}: they did not run here", count, file));
    return notes;
  });
}

}  // namespace ablate::db
