// A task's data files: the digest depends on their contents, and files() names each file that load() reads.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <thread>

#include "core/trial/conformance/task/edited_files.h"
#include "core/trial/conformance/task/opened_files.h"
#include "tests/conformance/task_recipe.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

namespace fs = std::filesystem;

fs::path fixed_place;  ///< folder that the fault "a fixed place" reads, whatever `data` is

/// Task of lines in three files of a folder. A line has letters and a label: "abcabd 1". The parameter `fault` names the fault.
class Lines : public Task {
 public:
  explicit Lines(const TaskContext& context)
      : folder_(context.parameters.text("data")), fault_(context.parameters.text("fault")) {
    if (fault_ == "a fixed place") folder_ = fixed_place;
  }

  TaskInfo info() override { return {.fields = {{.name = "letter", .vocabulary = 26}}, .length = 16, .classes = 2}; }
  std::vector<fs::path> files() override {
    std::vector<fs::path> files = {path(0), path(1), path(2)};
    if (fault_.starts_with("one file")) files = {path(0)};
    if (fault_ == "two named") files.pop_back();
    if (fault_ == "folder named") files = {folder_};
    return files;
  }
  void load() override {
    if (fault_.starts_with("one file")) {  // 80 % of the lines are train, 10 % dev, 10 % test
      std::ifstream file(path(0));
      std::vector<Line> all;
      for (Line line; file >> line.letters >> line.label;) all.push_back(line);
      for (std::size_t i = 0; i < all.size(); ++i)
        lines_[10 * i < 8 * all.size() ? 0 : 10 * i < 9 * all.size() ? 1 : 2].push_back(all[i]);
      return;
    }
    for (std::size_t split = 0; split < 3; ++split) {
      std::ifstream file(path(split));
      for (Line line; file >> line.letters >> line.label;) lines_[split].push_back(line);
    }
    if (fault_ == "a checksum") {
      for (std::size_t split = 0; split < 3; ++split)
        for (const auto& line : lines_[split])
          sum_ += std::hash<std::string>()(line.letters) * static_cast<std::size_t>(line.label + 2) * (split + 1);
      static const auto right = sum_;
      if (sum_ != right) throw std::runtime_error("another checksum");
    }
    if (fault_ == "a word list") std::thread([this] { std::ifstream(folder_ / "words").get(); }).join();
    if (fault_ == "another program" && std::system(("cat " + (folder_ / "words").string() + " > /dev/null 2>&1").c_str()) != 0)
      throw std::runtime_error("cat");
  }
  std::string digest() const override {
    std::string all;
    for (std::size_t split = 0; split < 3; ++split) {
      if (fault_ == "digest of train" && split > 0) break;
      if (split == 1 && fault_.ends_with("digest without dev")) continue;
      if (split == 2 && fault_.ends_with("digest without test")) continue;
      if (fault_ == "digest of sizes") {
        all += std::to_string(fs::file_size(path(split))) + " " + std::to_string(lines_[split].size());
        continue;
      }
      if (fault_ == "digest of times")
        all +=
            std::to_string(fs::last_write_time(path(split)).time_since_epoch().count()) + std::to_string(lines_[split].size());
      if (fault_ == "digest of times") continue;
      if (fault_ == "digest of the path") all += path(split).string();
      for (const auto& line : lines_[split])
        all += line.letters + (fault_ == "digest without labels" ? "" : std::to_string(line.label));
    }
    return fault_ == "one digest" ? "lines" : std::to_string(std::hash<std::string>()(all));
  }
  std::int64_t size(Split split) const override {
    return static_cast<std::int64_t>(lines_[static_cast<std::size_t>(split)].size());
  }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= size(split)) throw std::out_of_range("no such line");
      const auto& line = lines_[static_cast<std::size_t>(split)][static_cast<std::size_t>(indices[i])];
      for (std::size_t at = 0; at < line.letters.size(); ++at) batch.ids[0][i * 16 + at] = line.letters[at] - 'a';
      batch.targets[i] = line.label;
    }
  }
  std::string describe(Split, std::int64_t) const override { return "a line"; }

 private:
  struct Line {
    std::string letters;
    int label = 0;
  };
  fs::path path(std::size_t split) const { return folder_ / (std::string("part") + std::to_string(split)); }

  fs::path folder_;
  std::string fault_;
  std::size_t sum_ = 0;
  std::array<std::vector<Line>, 3> lines_;
};

constexpr Parameter kLineParameters[] = {text("data", "\"\"", "", "a folder"), text("fault", "\"\"", "", "the fault")};

void write_lines(const ::TemporaryFolder& folder) {
  for (int split = 0; split < 3; ++split) {
    std::ofstream file(folder.path() / ("part" + std::to_string(split)));
    Random random(static_cast<Split>(split), 0, 0);
    for (int i = 0; i < 300; ++i) {
      for (int at = 0; at < 16; ++at) file << static_cast<char>('a' + random.below(26));
      file << ' ' << random.below(2) << '\n';
    }
  }
  folder.write("words", "some words");
  fixed_place = folder.path();
}

Descriptor lines() {
  auto plugin = detail::describe(
      Kind::kTask, About{.id = "lines", .version = "1.0.0", .summary = "lines of files", .parameters = kLineParameters});
  plugin.make_task = [](const TaskContext& context) -> std::unique_ptr<Task> { return std::make_unique<Lines>(context); };
  return plugin;
}

std::vector<Check> lines_checked(const std::string& fault) {
  const ::TemporaryFolder folder;
  write_lines(folder);
  return checks_of(lines(), {{"data", folder.path().string()}, {"fault", fault}});
}

}  // namespace

TEST_CASE("a digest follows the contents of the files") {
  using Names = std::set<std::string>;
  const auto right = lines_checked("");
  CHECK(failed(right) == "");
  check_mentions(said(right, "other files, another digest"),
                 "6 edits of 3 files seen, in dev, test, train, and of targets alone");
  check_mentions(said(right, "files are named"), "3 read, 3 named");
  for (const char* fault :
       {"one digest", "digest of sizes", "digest of times", "digest of train", "digest without labels", "digest of the path",
        "digest without dev", "one file, digest without dev", "digest without test", "one file, digest without test"}) {
    INFO(fault);
    CHECK(failing_of(lines_checked(fault)) == Names{"other files, another digest"});
  }
  check_mentions(said(lines_checked("digest of train"), "other files, another digest"),
                 "part1: the examples of dev changed, but the digest is the same");
  check_mentions(said(lines_checked("digest of the path"), "other files, another digest"),
                 "the same files in another folder have another digest");
}

namespace {

/// Task of random words. The digest leaves out the parameter that `without` names.
class Drawn final : public Task {
 public:
  explicit Drawn(const TaskContext& context)
      : vocabulary_(context.parameters.integer("vocabulary")),
        train_(context.parameters.integer("train")),
        kind_(context.parameters.text("kind")),
        without_(context.parameters.text("without")) {}
  TaskInfo info() override { return {.fields = {{.name = "word", .vocabulary = 1000}}, .length = 16, .classes = 2}; }
  void load() override {}
  std::string digest() const override {
    std::string text = "drawn";
    for (const auto& [name, value] :
         {std::pair{"vocabulary", std::to_string(vocabulary_)}, {"train", std::to_string(train_)}, {"kind", kind_}})
      if (without_ != name) text += std::string(" ") + name + "=" + value;
    return text;
  }
  std::int64_t size(Split split) const override { return split == Split::kTrain ? train_ : 300; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= size(split)) throw std::out_of_range("no such example");
      Random random(split, indices[i], kind_ == "even" ? 0 : 1);
      for (std::size_t at = 0; at < 16; ++at) batch.ids[0][16 * i + at] = random.below(vocabulary_);
      batch.targets[i] = random.below(2);
    }
  }
  std::string describe(Split, std::int64_t) const override { return "words"; }

 private:
  std::int64_t vocabulary_, train_;
  std::string kind_, without_;
};

constexpr Parameter kDrawnParameters[] = {
    integer("vocabulary", "50", {2, 1000}, "words"), integer("train", "600", {1, 1000}, "examples to train on", "examples"),
    text("kind", "\"even\"", "even|odd", "which ones"), text("without", "\"\"", "", "what the digest leaves out")};

std::vector<Check> drawn_checked(const std::string& without) {
  auto plugin = detail::describe(Kind::kTask,
                                 About{.id = "drawn", .version = "1.0.0", .summary = "words", .parameters = kDrawnParameters});
  plugin.make_task = [](const TaskContext& context) -> std::unique_ptr<Task> { return std::make_unique<Drawn>(context); };
  return checks_of(plugin, {{"without", without}});
}

}  // namespace

TEST_CASE("a digest depends on each parameter that makes other examples") {
  using Names = std::set<std::string>;
  CHECK(failed(drawn_checked("")) == "");
  check_mentions(said(drawn_checked(""), "other parameters, another digest"), "other examples by vocabulary, train, kind");
  for (const char* without : {"vocabulary", "train", "kind"}) {
    INFO(without);
    const auto checks = drawn_checked(without);
    CHECK(failing_of(checks) == Names{"other parameters, another digest"});
    check_mentions(said(checks, "other parameters, another digest"), std::string("with ") + without + " = ");
  }
}

TEST_CASE("the digest is unchecked if no edit can be made, or if no edit changes an example") {
  for (const auto& [fault, why] :
       {std::pair{"a fixed place", "no parameter leads to a copy of the files"}, {"a checksum", "0 edits of 3 files seen"}}) {
    const auto checks = lines_checked(fault);
    CHECK(failed(checks) == "");
    for (const auto& check : checks) {
      if (check.name != "other files, another digest") continue;
      CHECK(check.verdict == Verdict::kUnchecked);
      CHECK(check.found == why);
    }
  }
}

TEST_CASE("the cache of an edited copy is deleted with the copy, and an edit that cannot be written is reported") {
  const ::TemporaryFolder folder, scratch;
  write_lines(folder);
  const auto plugin = lines();
  const auto candidate = make_candidate(plugin, {{"data", folder.path().string()}}, find_among({&plugin}));
  Checks checks;
  check_task(candidate, scratch.path(), false, checks);
  CHECK(failed(checks.all()) == "");
  std::size_t caches = 0;
  for (const auto& entry : fs::directory_iterator(scratch.path()))
    caches += entry.path().filename().string().starts_with("cache") ? 1 : 0;
  CHECK(caches <= 3);  // caches of the compared tasks, and one to find the parameter that leads to the files

  const ::TemporaryFolder other;
  TaskSubject subject(candidate, other.path(), true);
  subject.load();
  const auto files = EditedFiles::of(subject);
  REQUIRE(files.has_value());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 100, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string found;
  try {
    files->edit(0, 0.5, false);
  } catch (const std::runtime_error& error) {
    found = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  check_mentions(found, "cannot be written");
}

TEST_CASE("the system's reason is reported if a child cannot be traced") {
  const auto child = fork();
  if (child == 0) {
    // The filter refuses ptrace, as many containers do.
    sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    sock_fprog program{.len = std::size(filter), .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(77);
    _exit(tracing_refusal() == std::string("ptrace: ") + std::strerror(EPERM) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) != 77) CHECK(WEXITSTATUS(status) == 0);  // 77: this system has no such filters
}

TEST_CASE("files that are read must be named") {
  for (const auto& [fault, file] :
       {std::pair{"two named", "part2"}, {"a word list", "words"}, {"another program", "words"}, {"folder named", "part0"}}) {
    INFO(fault);
    const auto found = said(lines_checked(fault), "files are named");
    check_mentions(found, "load() reads");
    check_mentions(found, std::string(file) + ", which files() does not name");
  }
}
