#include "core/host/scheduler/memory_room.h"

#include <algorithm>

namespace ablate {
namespace {

constexpr std::int64_t kUnlike = 4;  ///< times the most that any trial took, for one of other settings

std::string kind_of(const PlannedTrial& trial) {
  auto settings = trial.identity.whole().settings;
  if (settings.is_object()) settings.erase("seed");
  return settings.dump();
}

}  // namespace

void MemoryRoom::remember(const std::string& key, std::int64_t peak_bytes) {
  if (peak_bytes > 0) by_key_[key] = std::max(by_key_[key], peak_bytes);
}

void MemoryRoom::started(int job, const PlannedTrial& trial, double now_s) {
  running_[job] = {.kind = kind_of(trial), .key = trial.key, .since_s = now_s};
}

void MemoryRoom::sized(int job, std::int64_t bytes, std::int64_t step) {
  const auto found = running_.find(job);
  if (found == running_.end()) return;
  auto& trial = found->second;
  trial.bytes = bytes, trial.peak = std::max(trial.peak, bytes);
  if (step == 0) return;
  trial.has_shown = true;
  auto& known = by_kind_[trial.kind];
  known = std::max(known, trial.peak), most_ = std::max(most_, trial.peak);
}

void MemoryRoom::ended(int job, std::int64_t peak_bytes) {
  const auto found = running_.find(job);
  if (found == running_.end()) return;
  const auto& trial = found->second;
  if (const auto peak = trial.has_shown ? trial.peak : peak_bytes; peak > 0) {
    auto& known = by_kind_[trial.kind];
    known = std::max(known, peak), most_ = std::max(most_, peak);
  }
  running_.erase(found);
}

std::int64_t MemoryRoom::expected(const std::string& key, const std::string& kind) const {
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;
  const auto found = by_kind_.find(kind);
  return found == by_kind_.end() ? 0 : found->second;
}

bool MemoryRoom::has_room(const PlannedTrial& next, std::int64_t available_bytes, double now_s) const {
  if (available_bytes < 0 || running_.empty()) return true;
  const auto need = [&](const std::string& key, const std::string& kind) {
    const auto known = expected(key, kind);
    return known > 0 ? known : kUnlike * most_;
  };
  auto left = available_bytes;
  for (const auto& [job, trial] : running_) {
    const bool is_new = !trial.has_shown && now_s - trial.since_s < kUnshown_s;
    if (is_new && need(trial.key, trial.kind) == 0) return false;
    left -= std::max<std::int64_t>(0, need(trial.key, trial.kind) - trial.bytes);
  }
  return need(next.key, kind_of(next)) <= left;
}

}  // namespace ablate
