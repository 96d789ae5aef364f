// Runs the suite over plugins in parallel, prints the results plugin by plugin, and stores the verdicts.
#pragma once

#include <cstdio>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/client/start_worker.h"
#include "core/shared/library_watch.h"
#include "core/util/error.h"
#include "db/history/store.h"
#include "db/report/printers.h"
#include "tools/ablate/check/examination.h"
#include "tools/ablate/check/named_plugins.h"
#include "tools/ablate/check/side_by_side.h"
#include "tools/ablate/streams.h"

namespace ablate {

/// Blocks of lines, written in parallel and printed in order: block 0 at once, block 1 after block 0 is closed, and so on.
class Blocks {
 public:
  explicit Blocks(std::size_t count) : blocks_(count) {}

  void add(std::size_t block, const std::string& text) {
    blocks_[block].text += text;
    print_some();
  }
  void close(std::size_t block) {
    blocks_[block].closed = true;
    print_some();
  }

 private:
  struct Block {
    std::string text;
    bool closed = false;
  };

  void print_some() {
    for (; turn_ < blocks_.size(); ++turn_) {
      print("{}", blocks_[turn_].text);
      blocks_[turn_].text.clear();
      if (!blocks_[turn_].closed) break;
    }
    std::fflush(stdout);
  }

  std::vector<Block> blocks_;
  std::size_t turn_ = 0;
};

struct CheckArguments {
  std::vector<std::string> what;        ///< ids, or paths of libraries; empty: all
  std::string device = "cpu";           ///< cpu, cuda or cuda:N
  std::vector<std::string> parameters;  ///< NAME=VALUE
  std::vector<std::string> only;        ///< names of checks; empty: all
  std::int64_t length = 0;              ///< length of --length, checked in addition; 0: none
  int timeout_s = 300;                  ///< limit for a plugin's checks, and separately for its timing
  int at_a_time = 0;                    ///< plugins at a time; 0: number of cores
  bool no_timing = false, quick = false;
  db::Format format = db::Format::kText;  ///< or kJson
};

class CheckRun {
 public:
  /// Throws Error for an unknown plugin or parameter.
  CheckRun(const CheckArguments& arguments, const Options& options);

  /// Prints the results. Stores the verdicts if all checks ran, at default parameters.
  /// @return the exit code
  int run();

 private:
  bool as_json() const { return arguments_.format == db::Format::kJson; }
  bool is_one() const { return libraries_.size() == 1; }
  bool is_refused(std::size_t i) const { return !libraries_[i].refusal.empty(); }
  bool has_time(std::size_t i) const;  ///< true if the plugin's checks include the growth of its time
  CheckJob spec_of(const FoundLibrary& library) const;
  std::vector<UsedPlugin> libraries_of(std::size_t i) const;  ///< libraries that the plugin's jobs load
  std::string device_refusal();
  void check_all();
  void time_all();
  ListenedCheck job_of(std::size_t i);
  bool may_go_on(std::size_t i) const;
  void go_on(std::size_t i);
  void leave_missing(std::size_t i);
  void head(std::size_t i);
  void tell(std::size_t block, const std::string& text);
  void close(std::size_t i);
  void keep();
  void tell_of_trials(const std::vector<PluginInfo>& failed) const;
  std::string totals() const;
  nlohmann::json to_json() const;
  ExitCode exit_code() const;

  const CheckArguments& arguments_;
  const std::filesystem::path database_;  ///< the user's history; may be missing
  std::optional<db::Store> history_;      ///< stores the verdicts: the file of --db or ABLATE_DB
  Executors checkers_ = local_workers(kChecker);
  std::vector<FoundLibrary> libraries_;
  std::map<std::string, FoundLibrary> parts_;  ///< by id
  std::vector<CheckJob> specs_;
  std::deque<Examination> examinations_;
  LibraryWatch watch_;
  std::optional<Blocks> blocks_;  ///< one for each library, and one for all timings
  std::set<std::size_t> headed_;
  bool is_timing_ = false, on_device_ = true;
};

}  // namespace ablate
