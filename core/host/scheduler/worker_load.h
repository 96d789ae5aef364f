// An executor with everything that waiting trials need, loaded before its first fork; and what could not be loaded.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "core/host/client/executors.h"
#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/surroundings.h"
#include "core/shared/library_watch.h"
#include "core/util/error.h"

namespace ablate {

class WorkerLoad {
 public:
  using Waiting = std::deque<const PlannedTrial*>;

  /// @param limit_s for each library and data set @param note takes a line for the user @param forget is called where data are
  /// refused (RunOptions::forget); may be empty @param waits is called about once a second meanwhile
  WorkerLoad(const Surroundings& outside, double limit_s, std::function<void(const std::string&)> note,
             std::function<void()> forget, std::function<void()> waits)
      : clock_(outside.clock),
        stops_(outside.stops),
        limit_s_(limit_s),
        note_(std::move(note)),
        forget_(std::move(forget)),
        waits_(std::move(waits)) {}

  /// So that a trial starts in milliseconds, and runs what was planned: a library or data that changed since then are refused.
  /// A worker that dies is replaced; what it died of three times in a row, or hangs in, is refused. Remembers the libraries'
  /// files in `watch`. Where asked to stop, gives the worker up and returns. The first call throws Error for what is refused:
  /// nothing has run yet. Later ones leave it out.
  void load(Executors& executors, const Waiting& waiting, LibraryWatch& watch);

  /// Why a trial cannot run: what it needs was left out. "" where it can.
  std::string refusal(const PlannedTrial& planned) const;

 private:
  /// A library, a data set, or CUDA.
  struct Item {
    std::string key, name;  ///< the name for people
    LoadCommand command = {};
    UsedPlugin library = {};  ///< its path is "" for another item
  };
  struct Refusal {
    std::string reason;
    ExitCode code = ExitCode::kPlugin;
    bool needs_another_worker = false;
  };

  static std::vector<Item> items(const Waiting& waiting);
  /// @return nothing where it is loaded, or where asked to stop. Throws WorkerEnded.
  std::optional<Refusal> load(Executor& executor, const Item& item) const;
  /// @return whether all could be tried in this worker
  bool load_all(Executor& executor, const std::vector<Item>& all, LibraryWatch& watch);
  void refuse(const Item& item, const Refusal& why);

  const Clock& clock_;
  StopRequests stops_;
  double limit_s_;
  std::function<void(const std::string&)> note_;
  std::function<void()> forget_, waits_;
  std::map<std::string, std::string> refused_;  ///< reasons by key
  std::map<std::string, int> deaths_;           ///< by key
  bool is_first_ = true;
};

}  // namespace ablate
