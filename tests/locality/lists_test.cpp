// A new part, such as a schedule or an output format, needs its own files and one line in a list. Each patch here adds a part
// to a copy of the sources. The copy is then compiled. If the part does not need torch, the copy is also linked and run.
#include "tests/support/catch.h"
#include "tests/support/process.h"

namespace {

const std::filesystem::path kSource = ABLATE_SOURCE_DIR;

/// Changes of a patch.
struct Extent {
  int own_files = 0;           ///< new files
  int other_files = 0;         ///< existing files
  int added = 0, removed = 0;  ///< lines in existing files
};

Extent extent_of(const std::filesystem::path& patch) {
  Extent extent;
  std::ifstream lines(patch);
  bool own = false;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("--- "))
      own = line == "--- /dev/null", ++(own ? extent.own_files : extent.other_files);
    else if (!own && !line.starts_with("+++ "))
      extent.added += line.starts_with("+"), extent.removed += line.starts_with("-");
  return extent;
}

std::string output_of(const std::vector<std::string>& command, const std::string& folder) {
  const auto ended = Process(command, {}, folder).wait();
  INFO(ended.out << ended.err);
  REQUIRE(ended.exit_code == 0);
  return ended.out;
}

/// Applies a patch of this folder. Checks that it makes `own_files` new files and adds one line to one other file.
void apply(const std::string& name, const TemporaryFolder& copy, int own_files = 1) {
  const auto patch = kSource / "tests/locality" / (name + ".patch");
  INFO(patch.string());
  const auto extent = extent_of(patch);
  CHECK(extent.own_files == own_files);
  CHECK(extent.other_files == 1);
  CHECK(extent.added == 1);
  CHECK(extent.removed == 0);
  output_of({"patch", "-p1", "-s", "--fuzz=0", "-i", patch.string()}, copy.path().string());
}

void copy_folders(const std::vector<std::string>& folders, const TemporaryFolder& copy) {
  for (const auto& folder : folders) {
    std::filesystem::create_directories(copy / folder);
    std::filesystem::copy(kSource / folder, copy / folder, std::filesystem::copy_options::recursive);
  }
}

/// Several sources combined into one, so that their headers are read once.
class Sources {
 public:
  void add(const std::filesystem::path& file) { text_ += "#include \"" + file.string() + "\"\n"; }
  void add_all(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".cpp") add(entry.path());
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void compile(const Sources& sources, const std::vector<std::string>& more, const TemporaryFolder& copy) {
  copy.write("all.cpp", sources.text());
  std::vector<std::string> command{ABLATE_COMPILER, "-std=c++20", "-O0", "-I.", "-Icore/sdk/include", "all.cpp"};
  command.insert(command.end(), more.begin(), more.end());
  output_of(command, copy.path().string());
}

/// Adds torch's headers after the system's headers, because torch has its own fmt.
void add_torch(std::vector<std::string>& options) {
  std::istringstream folders(ABLATE_TORCH_INCLUDES);
  for (std::string folder; std::getline(folders, folder, ':');) options.insert(options.end(), {"-idirafter", folder});
}

/// Makes a program of these sources. The libraries are for the linker.
std::string made_of(const Sources& sources, const std::vector<std::string>& libraries, const TemporaryFolder& copy) {
  std::vector<std::string> more{"-o", "program"};
  more.insert(more.end(), libraries.begin(), libraries.end());
  compile(sources, more, copy);
  return (copy / "program").string();
}

}  // namespace

TEST_CASE("an output format and a cell-marking statistic each need one line of a list, and are usable by name") {
  TemporaryFolder copy;
  copy_folders({"db/report", "db/types", "core/records", "core/util", "core/sdk"}, copy);
  apply("format", copy);
  apply("statistic", copy);
  // Everything needed to print a table.
  Sources sources;
  for (const auto* folder : {"db/report", "db/report/inference", "db/report/printers", "db/report/statistics"})
    sources.add_all(copy / folder);
  sources.add(kSource / "tests/locality/prints.cpp");
  const auto program = made_of(sources, {ABLATE_UTIL, "-lfmt", "-lcrypto"}, copy);
  CHECK(output_of({program, "tabs", "range"}, copy.path().string()) ==
        "attention\ttest/accuracy (%)\trange\nsoftmax\t72.0 ± 2.8 ^\t4.000\nlinear\t65.0 ± 1.4\t2.000\n");
  const auto csv = output_of({program, "csv", "range"}, copy.path().string());
  CHECK(csv.starts_with(
      "attention,metric,unit,mean,sd,interval,n,failed,reason,published,ratio,published_ratio,unsettled,checked,range\n"));
}

TEST_CASE("a new choice of [model] or [train] needs one line of a list, and studies may write its parameters") {
  TemporaryFolder copy;
  copy_folders({"core"}, copy);
  for (const auto* name : {"schedule", "optimizer", "norm", "pooling", "precision"}) apply(name, copy);
  Sources sources;
  for (const auto* file : {"sections", "trial_spec"}) sources.add(copy / ("core/shared/" + std::string(file) + ".cpp"));
  for (const auto* folder : {"core/shared/optimizers", "core/shared/schedules"}) sources.add_all(copy / folder);
  sources.add_all(copy / "core/trial/training/precisions");
  sources.add(kSource / "tests/locality/rates.cpp");
  std::vector<std::string> more{ABLATE_REGISTRY, ABLATE_UTIL, "-lelf", "-lfmt", "-lcrypto"};
  add_torch(more);
  const auto program = made_of(sources, more, copy);
  CHECK(output_of({program, "steps", "drop", "0.5", "sign_decay", "norm_type", "scale_epsilon", "power_of"},
                  copy.path().string()) ==
        "drop: 0.1, read with schedule = steps; train.drop = 0.5\n1 1 1 0.5 0.5 0.5 0.25 0.25 0.25\n"
        "sign_decay: a number in [0, 1]; default 0.9; read with optimizer = lion\n"
        "norm_type: one of scale, layer, rms; default \"layer\"\n"
        "scale_epsilon: a number in [0, 1]; default 1e-06; read with norm_type = scale\n"
        "power_of: a number in [1, 9]; default 3.0; read with pooling = power\n"
        "float16 with a loss scale of 64\n");
}

TEST_CASE("an optimiser, norm, pooling, observer or job needs one line of a list, and compiles with the code that uses it") {
  TemporaryFolder copy;
  copy_folders({"core"}, copy);
  for (const auto* name : {"optimizer", "norm", "pooling", "observer"}) apply(name, copy);
  apply("job", copy, 2);  // the messages between host and worker, and the code that handles them
  Sources sources;
  for (const auto* file : {"training/optimizers/lion", "training/optimizer", "model/norms/scale_norm", "model/model_options",
                           "objectives/poolings/power", "objectives/class_objective", "training/observers/idle_steps",
                           "training/observer", "server/handlers/parts", "server/jobs"})
    sources.add(copy / (std::string("core/trial/") + file + ".cpp"));
  std::vector<std::string> more{"-c"};
  add_torch(more);
  compile(sources, more, copy);
}

TEST_CASE("a new kind of plugin needs one line of the SDK, and the host reads, refuses and lists such plugins") {
  TemporaryFolder copy;
  copy_folders({"core/sdk", "core/registry", "core/util"}, copy);
  apply("kind", copy);
  Sources sources;
  for (const auto* file : {"conditions", "describe", "plugin_info", "plugin_info_json", "promises"})
    sources.add(copy / ("core/registry/" + std::string(file) + ".cpp"));
  sources.add(kSource / "tests/locality/gates.cpp");
  const auto program = made_of(sources, {ABLATE_UTIL, "-lfmt"}, copy);
  CHECK(output_of({program}, copy.path().string()) ==
        "gate halves, of attention, compression, gate or task; parts: attention or compression\n"
        "1.5; gate/2: not offered\n"
        "plugin \"halves\": its kind is gate, and it has no factory, the extension ablate.gate/1\n");
}
