#include "tools/ablate/audit/floors_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "core/host/client/start_worker.h"
#include "core/shared/floors_job.h"
#include "core/shared/versions.h"
#include "core/util/stop_on_signal.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Limit of processor time for all predictors in one call of FloorsRun::of(); with loading, a call takes two minutes.
constexpr double kFinding_s = 90;

db::KnownFloors known_of(const FloorsJob& job, const json& document, const FoundFloors& found) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.digest = job.digest,
          .task = document,
          .rows = {job.rows.test, job.rows.train, found.is_stream ? job.rows.lanes : 0},
          .version = kFloorsVersion,
          .found_s = std::chrono::duration_cast<std::chrono::seconds>(now).count(),
          .metric = found.metric,
          .examples = found.examples,
          .train_size = found.train_size,
          .seen = found.seen,
          .floors = to_json(found).at("floors"),
          .left_out = found.left_out};
}

}  // namespace

FloorsRun::FloorsRun(FloorsOf of, bool again, double timeout_s)
    : of_(std::move(of)), again_(again), timeout_s_(timeout_s), checkers_(local_workers(kChecker)) {}

std::optional<db::KnownFloors> FloorsRun::of(const ExampleRows& rows, db::Store& store) {
  if (!again_)
    if (auto kept = store.floors(of_.digest, of_.document, rows);
        kept && kept->version == kFloorsVersion && kept->left_out.empty())
      return kept;
  const FloorsJob job{of_.libraries, of_.section, of_.digest, rows, kFinding_s};
  const auto answered = checkers_.ask(job, timeout_s_);
  stop_if_asked();
  if (!answered.answer) {
    say("floors of {}: not found: {}\n", job.section.id, answered.failed);
    return std::nullopt;
  }
  const auto& found = *answered.answer;
  if (!found.left_out.empty()) say("floors of {}: no time was left for {}\n", job.section.id, fmt::join(found.left_out, ", "));
  if (found.floors.empty()) return std::nullopt;
  auto known = known_of(job, of_.document, found);
  store.put_floors(known);
  return known;
}

std::string floors_text(const db::KnownFloors& floors) {
  auto text =
      fmt::format("floors of {} on {} {}test examples", floors.metric, floors.examples, floors.rows.test == 0 ? "(all) " : "");
  text += floors.rows.train == 0
              ? ":\n"
              : fmt::format(", from the {} of {} training examples that trials see:\n", floors.seen, floors.train_size);
  for (const auto& floor : floors.floors) {
    const auto how = floor.value("how", "");
    const auto trained = floor.value("trained", std::int64_t{0});
    const auto others = floor.value("others", "");
    text += fmt::format("  {:<22}  {:>8.4g}  {}{}trained on {} of {}{}{}\n", floor.value("name", ""), floor.value("value", 0.0),
                        how, how.empty() ? "" : "; ", trained, floors.seen, others.empty() ? "" : "; ", others);
  }
  return text;
}

json floors_json(const db::KnownFloors& floors) {
  return {{"rows", floors.rows.test},    {"train_rows", floors.rows.train}, {"train_lanes", floors.rows.lanes},
          {"version", floors.version},   {"found_s", floors.found_s},       {"metric", floors.metric},
          {"examples", floors.examples}, {"train_size", floors.train_size}, {"seen", floors.seen},
          {"floors", floors.floors},     {"left_out", floors.left_out}};
}

}  // namespace ablate
