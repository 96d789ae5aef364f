#include "core/host/study/study.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "core/host/study/labels.h"
#include "core/host/study/resolver.h"
#include "core/host/study/rules.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

using Chosen = std::vector<std::size_t>;

[[noreturn]] void cannot_read(const std::filesystem::path& file, const std::string& why) {
  std::vector<Diagnostic> diagnostics(1);
  diagnostics[0].where.file = file.string();
  diagnostics[0].message = "cannot be read: " + why;
  throw ConfigError(std::move(diagnostics));
}

constexpr std::size_t kMostBytes = 4 << 20;  ///< of a study: 100,000 points take far less

std::string read_file(const std::filesystem::path& file) {
  struct Descriptor {
    int number;
    ~Descriptor() {
      if (number >= 0) close(number);
    }
  };
  // Without O_NONBLOCK a pipe of that name would be waited for.
  const Descriptor in{open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (in.number < 0 || fstat(in.number, &status) != 0) cannot_read(file, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) cannot_read(file, "it is a folder; expected a study in TOML");
  if (!S_ISREG(status.st_mode)) cannot_read(file, "it is no regular file; expected a study in TOML");
  std::string text(kMostBytes + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    const auto some = read(in.number, text.data() + size, text.size() - size);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) cannot_read(file, std::strerror(errno));
    if (some == 0) break;
    size += static_cast<std::size_t>(some);
    if (size > kMostBytes) cannot_read(file, fmt::format("it is longer than {} MiB; is it a study?", kMostBytes >> 20));
  }
  text.resize(size);
  if (text.starts_with("\x1f\x8b")) cannot_read(file, "it is a gzip file; expected a study in TOML, unpacked (gunzip)");
  return text;
}

void check_paths(const Draft& draft, const Schema& schema, Diagnostics& diagnostics) {
  const auto check = [&](const Assignment& set, bool in_grid) {
    if (in_grid && set.path == "seed")
      return diagnostics.add(set.key, "seeds are set by grid.seeds alone, as in seeds = [1, 2, 3]");
    if (const auto why = schema.refuse_path(set.path); !why.empty()) return diagnostics.add(set.key, why);
    if (set.path.starts_with("compression.") && !schema.takes_compression()) {
      std::string ids;
      for (const auto* attention : schema.used("attention")) ids += (ids.empty() ? "" : ", ") + attention->id;
      const auto header = draft.sections.find("compression");
      const bool in_section = !in_grid && set.key.file != kOverrideFile && header != draft.sections.end();
      diagnostics.add(in_section ? header->second : set.key,
                      fmt::format("{} is set, but no attention of the study takes a compression (used: {}); leave it out",
                                  in_section ? "[compression]" : set.path, ids));
    }
  };
  for (const auto& [path, set] : draft.base) check(set, false);
  for (const auto& group : draft.groups)
    for (const auto& alternative : group.alternatives)
      for (const auto& set : alternative.set)
        if (group.form != Group::Form::kSeeds) check(set, true);
}

/// Reports a trial that equals an earlier one, at the first part of the grid in which the two differ.
void report_duplicate(const Draft& draft, const Chosen& earlier, const Chosen& later, Diagnostics& diagnostics) {
  for (std::size_t g = 0; g < draft.groups.size(); ++g) {
    if (earlier[g] == later[g]) continue;
    const auto& alternatives = draft.groups[g].alternatives;
    return diagnostics.add(
        alternatives[later[g]].where,
        fmt::format("this gives the same trial as {}; leave one of the two out", to_text(alternatives[earlier[g]].where)));
  }
}

/// The published numbers of the trial that comes next. One paper may repeat another's number, but a trial can show one only.
void add_published(const Draft& draft, const std::vector<std::size_t>& rules, Study& study, Diagnostics& diagnostics) {
  std::map<std::string, const PublishedDraft*> seen;
  for (const auto& number : draft.published) {
    if (std::find(rules.begin(), rules.end(), number.rule) == rules.end()) continue;
    if (const auto [other, fresh] = seen.try_emplace(number.metric, &number); !fresh)
      diagnostics.add(number.where, fmt::format("{} of this trial is published at {} already; keep one", number.metric,
                                                to_text(other->second->where)));
    else
      study.published.push_back({study.trials.size(), number.metric, number.value, number.source});
  }
}

void expand(const Draft& draft, const Schema& schema, Study& study, Diagnostics& diagnostics) {
  auto& trials = study.trials;
  const bool sound = diagnostics.empty();
  const auto grid = draft.sections.contains("grid") ? draft.sections.at("grid") : draft.start;
  Rules exclude(draft.rules, "exclude rule", schema, diagnostics);
  Rules publish(draft.published_rules, "published line", schema, diagnostics);
  if (count_points(draft) > kMostTrials)
    return diagnostics.add(grid, fmt::format("the grid has more than {} trials; split the study", kMostTrials));
  Resolver resolver(draft, schema, diagnostics);
  std::unordered_map<std::string, Chosen> seen;
  std::size_t left = 0;
  each_point(draft, [&](const Point& point) {
    if (!exclude.matching(point).empty()) return;
    ++left;
    auto trial = resolver.resolve(point);
    if (!trial) return;
    const auto [entry, fresh] = seen.try_emplace(sha256(trial->resolved.dump()), point.chosen);
    // Alternatives of a path that is wrong do not differ in the trials.
    if (!fresh && sound) report_duplicate(draft, entry->second, point.chosen, diagnostics);
    if (!fresh) return;
    add_published(draft, publish.matching(point), study, diagnostics);
    trials.push_back(std::move(*trial));
  });
  // Where a part of the grid could not be read, or an override replaced one, a rule may rightly match nothing.
  if (sound && study.overrides.empty())
    for (const auto* rules : {&exclude, &publish}) rules->report_unmatched(diagnostics);
  if (left == 0) diagnostics.add(grid, "the grid leaves no trial: every one is excluded");
}

}  // namespace

Study load_study(const std::filesystem::path& file, const std::vector<std::string>& overrides, const Catalog& catalog) {
  Study study{.file = file, .text = read_file(file), .overrides = overrides};
  Diagnostics diagnostics(overrides);
  if (const auto document = parse_document(study.text, file.string(), diagnostics)) {
    const auto draft = read_draft(*document, overrides, file.stem().string(), diagnostics);
    const Schema schema(catalog, draft.plugins);
    check_paths(draft, schema, diagnostics);
    study.name = draft.name, study.description = draft.description, study.timeout_s = draft.timeout_s;
    expand(draft, schema, study, diagnostics);
    if (diagnostics.empty()) add_labels(draft, study.trials);
  }
  if (!diagnostics.empty()) throw ConfigError(diagnostics.sorted());
  return study;
}

}  // namespace ablate
