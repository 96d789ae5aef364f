// A task that fails on demand, in a chosen call and a chosen way.
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "ablate/data_files.h"
#include "ablate/task.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::text("where", "\"nowhere\"", "nowhere|factory|info|load|digest|size|read", "the call that goes wrong"),
    ablate::text(
        "how", "\"throw\"",
        "throw|throw-again|throw-int|crash|exit|close|lie|lie-less|leave-out|chdir|look|fork|kill-worker|hang|hang-again|take-"
        "metric|take-step|judge-nan|judge-huge|judge-one|replace|write-"
        "table",
        "what goes wrong"),
    ablate::text("data", "\"\"", "", "a file whose content is its data"),
    ablate::file("table", "\"\"", "a file whose content is appended to the data"),
};

class FaultyTask final : public ablate::Task {
 public:
  explicit FaultyTask(const ablate::TaskContext& context)
      : where_(context.parameters.text("where")),
        how_(context.parameters.text("how")),
        data_(context.parameters.text("data")),
        table_(context.parameters.file("table")),
        cache_(context.cache) {
    at("factory");
  }
  ablate::TaskInfo info() override {
    at("info");
    const bool lies_less = how_ == "lie-less" && where_ == "info";
    ablate::TaskInfo info{
        .fields = {{.name = "symbol", .vocabulary = lies_less ? 1 : 5}}, .length = lies("info") ? -1 : 8, .classes = 2};
    if (how_ == "take-metric") info.metrics = {{"accuracy", "%", "max", "its own"}};
    if (how_ == "take-step") info.metrics = {{"best_step", "", "max", "its own"}};
    if (how_.starts_with("judge-")) info.metrics = {{"depth", "s", "max", "its own"}};
    return info;
  }
  std::vector<std::filesystem::path> files() override {
    if (data_.empty()) return {};
    return {ablate::find_data("faulty-task", data_, "a file", ablate::is_file)};
  }
  void load() override {
    for (const auto& file : files()) {
      std::ifstream stream(file);
      content_.assign(std::istreambuf_iterator<char>(stream), {});
    }
    if (!table_.empty() && how_ != "write-table") {  // with write-table, the digest leaves the table out
      std::ifstream stream(table_);
      content_.append(std::istreambuf_iterator<char>(stream), {});
    }
    at("load");
  }
  std::string digest() const override {
    at("digest");
    return lies("digest") ? "" : "faulty" + content_;
  }
  std::int64_t size(ablate::Split) const override {
    at("size");
    return lies("size") ? -1 : 40;
  }
  void read(ablate::Split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    at("read");
    const auto ids = batch.ids[0];
    for (auto& id : ids) id = lies("read") ? 99 : 1 + (indices[0] + (&id - ids.data())) % 4;
    if (where_ == "read" && how_ == "leave-out") return;
    for (std::size_t i = 0; i < indices.size(); ++i)
      batch.targets[i] = where_ == "read" && how_ == "lie-less" ? -7 : indices[i] % 2;
  }
  std::string describe(ablate::Split, std::int64_t) const override { return "faulty"; }
  void judge(ablate::Split, std::int64_t, std::span<const std::int64_t>, std::span<double> values) const override {
    values[0] = how_ == "judge-nan" ? std::nan("") : how_ == "judge-huge" ? 1.7e308 : 1;
  }

 private:
  bool lies(std::string_view here) const { return here == where_ && how_ == "lie"; }

  void at(const std::string& here) const {
    if (here != where_) return;
    if (how_ == "throw" || (how_ == "throw-again" && is_again()))
      throw std::runtime_error(here + " has\nthrown, as it was asked to");
    if (how_ == "throw-int") throw 42;
    if (how_ == "crash") raise(SIGSEGV);
    if (how_ == "exit") exit(0);
    if (how_ == "close") closefrom(3);
    if (how_ == "chdir" && chdir("/") != 0) abort();
    if (how_ == "look" && access("study.toml", R_OK) != 0) throw std::runtime_error("the working folder has changed");
    if (how_ == "fork" && !std::exchange(forked_, true)) fork();  // once: copies of copies would fill the machine
    if (how_ == "replace") {
      std::ofstream(data_ + ".new") << content_ << " more";
      std::filesystem::rename(data_ + ".new", data_);
    }
    if (how_ == "write-table") std::ofstream(table_) << "3";
    if (how_ == "kill-worker") kill(getppid(), SIGKILL);
    if (how_ == "hang" || (how_ == "hang-again" && is_again())) pause();
  }
  bool is_again() const { return !std::filesystem::create_directory(cache_ / "seen"); }

  std::string where_, how_, data_, table_, content_;
  std::filesystem::path cache_;
  mutable bool forked_ = false;
};

}  // namespace

ABLATE_TASK(FaultyTask, {.id = "faulty-task", .version = "1.0.0", .summary = "fails on demand", .parameters = parameters})
