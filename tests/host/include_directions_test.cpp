// Checks that layers depend in one direction: compares the includes of all sources with the list in docs/design.md.
#include <algorithm>

#include "core/util/error.h"
#include "tests/host/layers.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;

namespace {

const std::filesystem::path kRoot = ABLATE_SOURCE_DIR;
constexpr std::size_t kMostLines = 500;

std::string error_of(const std::string& design) {
  try {
    read_layers(design);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const std::string kDesign =
    "# A house\n## Layers, one direction\n    tools/ablate   commands    -> db, host\n    core/host/study  -> util\n"
    "    core/util  -> sdk\n    core/sdk   for plugins\n    db/history   -> util\n    db/report  no SQLite -> util\n"
    "    plugins/   -> sdk\n- Prose -> anything\n    nowhere -> nothing\n";

}  // namespace

TEST_CASE("every include of the tree follows the layers of docs/design.md") {
  const auto layers = read_layers(read_text(kRoot / "docs/design.md"));
  auto wrong = wrong_includes(kRoot, layers);
  CHECK(wrong == std::vector<std::string>{});
}

TEST_CASE("a type has one definition") { CHECK(types_defined_twice(kRoot) == std::vector<std::string>{}); }

TEST_CASE("sources read a trial through the members of TrialSpec, and only listed sources read its document") {
  CHECK(literal_sections(kRoot) == std::vector<std::string>{});
}

TEST_CASE("only the folder that makes worker processes names their class; other folders use executors") {
  // The name is split, so that this file does not contain it.
  CHECK(found_elsewhere(kRoot, {"core", "db", "plugins", "tests", "tools"},
                        "\\bWorker"
                        "Client\\b",
                        "core/host/client/") == std::vector<std::string>{});
}

TEST_CASE("a scheduler gets the time and stop requests only from its environment") {
  CHECK(found_elsewhere(kRoot, {"core/host/scheduler"}, "steady_clock|system_clock|sleep_|std::time\\(|\\basked_to_stop",
                        "core/host/scheduler/surroundings.h") == std::vector<std::string>{});
}

TEST_CASE("no source is longer than 500 lines") { CHECK(long_files(kRoot, kMostLines) == std::vector<std::string>{}); }

TEST_CASE("a layer may include the layers that its line names, and all layers below them") {
  const auto layers = read_layers(kDesign);
  CHECK(layers.at("tools/ablate") ==
        std::set<std::string>{"core/host/study", "core/sdk", "core/util", "db/history", "db/report"});
  CHECK(layers.at("core/host/study") == std::set<std::string>{"core/sdk", "core/util"});
  CHECK(layers.at("plugins") == std::set<std::string>{"core/sdk"});
  CHECK(layers.at("core/sdk").empty());
  CHECK(layers.size() == 7);
  CHECK(error_of("no list") == "docs/design.md has no list of layers: expected indented lines under \"## Layers\"");
  CHECK(error_of("## Layers\n    a -> b\n    c\n") ==
        "docs/design.md: a -> b: no listed folder has this name, or other names on this line include all of its folders");
  CHECK(error_of("## Layers\n    a -> b\n    b -> c\n    c -> a\n") ==
        "docs/design.md: a includes itself through another room");
}

TEST_CASE("errors of an invented tree are reported with their places") {
  TemporaryFolder folder;
  const auto& root = folder.path();
  const auto layers = read_layers(kDesign);
  folder.write("core/sdk/include/ablate/task.h", "#pragma once\n");
  folder.write("core/util/error.h", "#include <string>\n#include <ablate/task.h>\n");
  folder.write("db/history/store.h", "#include <SQLiteCpp/SQLiteCpp.h>\n#include \"core/util/error.h\"\n");
  folder.write("tools/ablate/main.cpp", "#include \"db/history/store.h\"\n#include \"core/util/error.h\"\n");
  folder.write("plugins/one/one.cpp", "#include \"ablate/task.h\"\n#include \"inner/part.h\"\n#include <torch/torch.h>\n");
  folder.write("plugins/one/inner/part.h", "");
  CHECK(wrong_includes(root, layers) == std::vector<std::string>{});

  folder.write("core/util/wrong.cpp", "\n#  include \"db/history/store.h\"\n");
  folder.write("db/report/text.cpp", "#include <sqlite3.h>\n#include <db/history/store.h>\n");
  folder.write("plugins/two/two.cpp",
               "#include \"../one/inner/part.h\"\n#include \"core/util/error.h\"\n#include \"gone.h\"\n");
  folder.write("core/attic/old.h", "");
  CHECK(
      wrong_includes(root, layers) ==
      std::vector<std::string>{
          "core/attic/old.h:1: found in no layer, expected one of those in docs/design.md",
          "core/util/wrong.cpp:2: found db/history/store.h, which is in db/history, allowed for core/util: core/sdk",
          "db/report/text.cpp:1: found sqlite3.h, which is SQLite, allowed in db/history and db/questions",
          "db/report/text.cpp:2: found db/history/store.h, which is in db/history, allowed for db/report: core/sdk, core/util",
          "plugins/two/two.cpp:1: found ../one/inner/part.h, which is in plugins/one, allowed for plugins/two: its own folder, "
          "core/sdk",
          "plugins/two/two.cpp:2: found core/util/error.h, which is in core/util, allowed for plugins: core/sdk",
          "plugins/two/two.cpp:3: found gone.h, which is not in the tree"});

  folder.write("core/util/one.h", "namespace ablate {\nstruct Own {};\nclass Two;\nclass Two final : public Own {\n};\n}\n");
  folder.write("db/report/two.h", "namespace ablate {\nenum class Two { kOne };\n}\n");
  folder.write("db/report/own.h", "namespace ablate::db {\nstruct Own {};\n}\n");
  CHECK(types_defined_twice(root) ==
        std::vector<std::string>{"ablate::Two: found in core/util/one.h, db/report/two.h, allowed in one of them"});

  folder.write("core/util/reads.cpp",
               "auto a = trial.at(\"model\").at(\"heads\");  // at(\"task\")\nauto b = trial[\"train\"];\n"
               "json c{{\"attention\", section}};\nkinds = {\"attention\", \"task\"}, sections_[\"model\"];\n");
  folder.write("db/history/asks.cpp",
               "auto sql = \"SELECT json ->> '$.train.batch', json ->> '$.imported' FROM resolved\";\n"
               "auto id = task.value(\"plugin\", json());\nnames.emplace_back(\"plugin\");\n");
  CHECK(literal_sections(root) ==
        std::vector<std::string>{"core/util/reads.cpp:1: found at(\"model\", allowed members of TrialSpec",
                                 "core/util/reads.cpp:2: found l[\"train\"], allowed members of TrialSpec",
                                 "core/util/reads.cpp:3: found {{\"attention\", s, allowed members of TrialSpec",
                                 "db/history/asks.cpp:1: found $.train, allowed members of TrialSpec",
                                 "db/history/asks.cpp:2: found value(\"plugin\", allowed members of TrialSpec"});

  folder.write("core/util/reads.cpp", "auto a = task.at(section::kModel);\nauto b = json{{section::kSeed, 1}};\n");
  folder.write("db/history/asks.cpp",
               "if (path == \"train.device\" || path == \"task\") return;\nauto layer = \"attention.\" + number;\n"
               "of = {fmt::format(\"task.{}\", split)};\nif (path.starts_with(\"model\")) settings.erase(\"seed\");\n"
               "why = fmt::format(\"train.batch = {}: too few\", batch);  // \"train.batch\"\npath == setting::kBatch;\n");
  folder.write("core/host/study/reads.cpp", "if (section == \"task\") path = \"task.plugin\";\n");
  folder.write("core/records/setting_paths.h", "constexpr const char* kBatch = \"train.batch\";\n");
  folder.write("core/shared/schedules/one.cpp", "misfit = {\"train.cooldown\", section == \"model\"};\n");
  CHECK(literal_sections(root) ==
        std::vector<std::string>{"core/host/study/reads.cpp:1: found \"task.plugin\", allowed core/records/setting_paths.h",
                                 "core/shared/schedules/one.cpp:1: found == \"model\", allowed core/records/setting_paths.h",
                                 "core/util/reads.cpp:1: found at(section::kModel, allowed members of TrialSpec",
                                 "core/util/reads.cpp:2: found {{section::kSeed, 1, allowed members of TrialSpec",
                                 "db/history/asks.cpp:1: found \"train.device\", allowed core/records/setting_paths.h",
                                 "db/history/asks.cpp:1: found == \"task\", allowed core/records/setting_paths.h",
                                 "db/history/asks.cpp:2: found \"attention.\", allowed core/records/setting_paths.h",
                                 "db/history/asks.cpp:3: found \"task.{}\", allowed core/records/setting_paths.h",
                                 "db/history/asks.cpp:4: found erase(\"seed\", allowed members of TrialSpec",
                                 "db/history/asks.cpp:4: found starts_with(\"model\", allowed core/records/setting_paths.h"});

  folder.write("tools/ablate/run.cpp", "Pipe pipe;\nPipes pipes;\n");
  CHECK(found_elsewhere(root, {"core", "tools"}, "\\bPipe\\b", "core/host/") ==
        std::vector<std::string>{"tools/ablate/run.cpp:1: found Pipe, allowed in core/host/"});
  CHECK(found_elsewhere(root, {"core", "tools"}, "\\bPipe\\b", "tools/ablate/").empty());

  folder.write("tests/long_test.cpp", std::string(501, '\n'));
  folder.write("tests/right_test.cpp", std::string(500, '\n'));
  CHECK(long_files(root, kMostLines) == std::vector<std::string>{"tests/long_test.cpp: found 501 lines, allowed 500"});
}
