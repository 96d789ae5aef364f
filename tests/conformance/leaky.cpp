// A task whose data follow a file: "none" makes random labels, "first" puts the label at the first position. Tests run
// audits and checks of this task, and disturb the runs. LEAKY_KILLS names a file with the number of reads that still kill the
// process. LEAKY_WRITES names a file that each read writes to.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <stdexcept>

#include "ablate/data_files.h"
#include "ablate/task.h"

namespace {

constexpr std::int64_t kSize = 400, kLength = 12;

constexpr ablate::Parameter parameters[] = {
    ablate::text("data", "\"rule.txt\"", "", "a file that holds none or first"),
    ablate::integer("shift", "0", {0, 9}, "is added to every digit"),
};

const char* set_in_environment(const char* name) {
  const char* set = std::getenv(name);
  return set != nullptr && *set != 0 ? set : nullptr;
}

void be_killed(const char* file) {
  int times = 0;
  std::ifstream(file) >> times;
  if (times <= 0) return;
  std::ofstream(file) << times - 1 << '\n';
  std::raise(SIGKILL);
}

class Leaky final : public ablate::Task {
 public:
  explicit Leaky(const ablate::TaskContext& context)
      : data_(context.parameters.text("data")), shift_(context.parameters.integer("shift")) {}

  ablate::TaskInfo info() override {
    return {.fields = {{.name = "digit", .vocabulary = 10}}, .length = kLength, .classes = 2};
  }
  std::vector<std::filesystem::path> files() override { return {ablate::find_data("leaky", data_, "a file", ablate::is_file)}; }
  void load() override {
    std::ifstream(files().front()) >> rule_;
    if (rule_ != "none" && rule_ != "first") throw std::runtime_error("expected none or first");
  }
  std::string digest() const override { return "leaky " + rule_ + " " + std::to_string(shift_); }
  std::int64_t size(ablate::Split) const override { return kSize; }
  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    if (set_in_environment("LEAKY_ABORTS") != nullptr) std::abort();
    if (const char* file = set_in_environment("LEAKY_KILLS")) be_killed(file);
    if (const char* file = set_in_environment("LEAKY_WRITES")) std::ofstream(file, std::ios::app) << '\n';
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= kSize) throw std::out_of_range("no such example");
      std::mt19937_64 random(static_cast<std::uint64_t>(3 * indices[i]) + static_cast<std::uint64_t>(split));
      for (std::size_t at = 0; at < kLength; ++at)
        batch.ids[0][i * kLength + at] = (static_cast<std::int64_t>(random() % 10) + shift_) % 10;
      batch.targets[i] = static_cast<std::int64_t>(random() % 2);
      if (rule_ == "first") batch.ids[0][i * kLength] = batch.targets[i];
    }
  }
  std::string describe(ablate::Split, std::int64_t index) const override { return "example " + std::to_string(index); }

 private:
  std::string data_, rule_;
  std::int64_t shift_;
};

}  // namespace

ABLATE_TASK(Leaky, {.id = "leaky", .version = "1.0.0", .summary = "of a test", .parameters = parameters})
