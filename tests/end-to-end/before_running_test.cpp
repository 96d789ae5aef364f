// Errors and warnings before a grid runs, which are the same for a run and a dry run. Also the option --only.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

const std::string kGrid = kTiny + "[grid]\nseeds = 2\nattention.plugin = [\"softmax\", \"linear\"]\n";

std::vector<std::string> keys(const std::string& dry_run) {
  std::vector<std::string> found;
  std::istringstream lines(dry_run);
  for (std::string line; std::getline(lines, line);)
    if (line.size() > 19 && line[4] != ' ' && line[7] != ' ' && line.starts_with("    ")) found.push_back(line.substr(7, 12));
  return found;
}

}  // namespace

TEST_CASE("a dry run and a run refuse the same studies, before anything is written") {
  struct Case {
    std::string study;
    int exit_code;
    std::string says;
  };
  const std::string image = "[task]\nplugin = \"image\"\n", linear = "[attention]\nplugin = \"linear\"\n";
  std::vector<Case> cases = {
      {"[task]\nplugin = \"image\"\ndata = \"/no/such/folder\"\n" + linear, 2, "study.toml:3:8: task image: data = "},
      {kTiny + "[attention]\nplugin = \"unpadded\"\n", 2,
       "study.toml:21:10: attention unpadded does not promise key_padding, and the task has sequences of several lengths"},
      {kTiny + "[grid]\nattention.plugin = [\"linear\",\n\"unpadded\"]\n", 2, "study.toml:22:1: attention unpadded does not"},
      {kTiny + "device = \"cuda:99\"\n" + linear, 2, "study.toml:20:10: train.device "},
      {"[task]\nplugin = \"faulty-task\"\nwhere = \"load\"\n" + linear, 2,
       "study.toml:2:10: task faulty-task: load has thrown, as it was asked to"},
      {"[task]\nplugin = \"faulty-task\"\nwhere = \"load\"\nhow = \"crash\"\n" + linear, 3,
       "study.toml:2:10: task faulty-task: signal 11"},
      {"[task]\nplugin = \"recall\"\npairs = \"2,x\"\n" + linear, 2, "study.toml:3:9: task recall: pairs = \"2,x\""},
      {"[task]\nplugin = \"recall\"\n[model]\npooling = \"last\"\n[train]\nstride = 4\n" + linear, 2,
       "study.toml:4:11: model.pooling = \"last\" changes nothing here: targets are at positions, and nothing is pooled"},
      {kTiny + "[attention]\nplugin = \"compressed\"\nslots = 8\n[attention.compression]\nplugin = \"clustering\"\n", 2,
       "study.toml:24:10: attention.compression: compression clustering does not promise to keep a fixed number of slots"},
      {"[task]\nplugin = \"listops\"\n[model]\npositions = \"rotary\"\n[attention]\nplugin = \"linear\"\nheads = 64\n", 2,
       "study.toml:7:9: attention.heads = 64 leaves 1 channels of a key, expected an even number for rotary positions"},
  };
  for (const auto& one : cases) {
    Workplace place;
    place.study(one.study);
    INFO(one.study);
    const auto dry = place.run({"run", "study.toml", "--plugins", kFaulty + "trial", "--dry-run"});
    CHECK(dry.exit_code == one.exit_code);
    CHECK(says(dry.err, one.says));
    CHECK(dry.out == "");
    const auto run = place.run({"run", "study.toml", "--plugins", kFaulty + "trial"});
    CHECK(run.exit_code == one.exit_code);
    CHECK(run.err == dry.err);
    CHECK_FALSE(place.has_database());
  }
}

TEST_CASE("idx labels that are all equal are reported as a fault of the file, not of the plugin") {
  Workplace place;
  const std::string none("\0\0\0\0", 4), count("\0\0\0\4", 4), magic("\0\0\x08", 3);
  for (const std::string part : {"train", "t10k"}) {
    place.folder().write("data/" + part + "-images-idx3-ubyte", magic + '\3' + count + count + count + std::string(64, 'x'));
    place.folder().write("data/" + part + "-labels-idx1-ubyte", magic + '\1' + count + none);
  }
  place.study("[task]\nplugin = \"image\"\ndata = \"" + (place.folder() / "data").string() +
              "\"\ndev = 1\n[attention]\nplugin = \"linear\"\n");
  const auto ended = place.run({"run", "study.toml"});
  INFO(ended.err);
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, "task image: " + (place.folder() / "data/train-labels-idx1-ubyte").string() +
                            ": found 4 labels, all of them 0; expected labels 0, 1, 2"));
}

TEST_CASE("a path that cannot hold a history is refused before any data are prepared") {
  Workplace place;
  place.study("[task]\nplugin = \"faulty-task\"\nwhere = \"load\"\n[attention]\nplugin = \"linear\"\n");
  REQUIRE(place.shell("mkfifo fifo; mkdir folder").exit_code == 0);
  for (const auto& [database, message] : std::map<std::string, std::string>{{":memory:", "can hold no run history"},
                                                                            {"fifo", "is a FIFO"},
                                                                            {"folder", "is a folder"},
                                                                            {"/dev/null", "is a device"},
                                                                            {"nowhere/a.db", "there is no folder "}})
    for (const std::string how : {"--dry-run", "--again"}) {
      INFO(database << " " << how);
      const auto ended = place.run({"run", "study.toml", "--plugins", kFaulty + "trial", "--db", database, how});
      CHECK(ended.exit_code == 2);
      CHECK(says(ended.err, message));
      CHECK_FALSE(says(ended.err, "load has thrown"));
    }
}

TEST_CASE("a history that is a dangling link is refused by commands that read it and that create it") {
  Workplace place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string();
  REQUIRE(place.shell("mkdir real; ln -s 'real/my db' link.db; ln -s none/a.db far.db; ln -s loop.db loop.db").exit_code == 0);
  const auto real = std::filesystem::canonical(place.folder() / "real").string();
  const auto here = std::filesystem::canonical(place.folder().path()).string();
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"link.db", "link.db is a link to " + real + "/my db, where there is no file; make it by `touch '" + real +
                      "/my db'`, or remove the link"},
      {"far.db", "far.db is a link to " + here + "/none/a.db, where there is no folder " + here +
                     "/none; mount or make the folder, or remove the link"},
      {"loop.db",
       "loop.db is a link that leads nowhere: Too many levels of symbolic links; expected the file of a run history"},
  };
  for (const auto& [database, message] : lines)
    for (const auto& words : std::vector<std::vector<std::string>>{{"run", study}, {"run", study, "--dry-run"}, {"table"}}) {
      auto all = words;
      all.insert(all.end(), {"--db", database});
      const auto ended = place.run(all);
      INFO(ended.err);
      CHECK(ended.exit_code == 2);
      CHECK(says(ended.err, "ablate: " + message));
    }
  CHECK(std::filesystem::is_empty(place.folder() / "real"));
  // The suggested remedy works.
  REQUIRE(place.shell("touch 'real/my db'").exit_code == 0);
  CHECK(place.run({"run", study, "--db", "link.db"}).exit_code == 0);
  CHECK(place.run({"table", "--db", "link.db"}).exit_code == 0);
}

TEST_CASE("sequences of equal length do not count as padded") {
  Workplace place;
  place.study("[task]\nplugin = \"bytes\"\nlength = 16\n[attention]\nplugin = \"unpadded\"\n");
  const auto ended = place.run({"run", "study.toml", "--plugins", kFaulty + "trial", "--dry-run"});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
}

TEST_CASE("several missing data sets are reported together") {
  Workplace place;
  place.study(
      "[task]\nplugin = \"image\"\n[attention]\nplugin = \"linear\"\n[grid]\ntask.data = [\"/no/one\", \"/no/other\"]\n");
  const auto ended = place.run({"run", "study.toml", "--dry-run"});
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, "/no/one"));
  CHECK(says(ended.err, "/no/other"));
}

TEST_CASE("--only runs the named trials, and the experiment keeps the others") {
  Workplace place;
  place.study(kGrid);
  const auto all = keys(place.run({"run", "study.toml", "--dry-run"}).out);
  REQUIRE(all.size() == 4);
  const auto dry = place.run({"run", "study.toml", "--only", all[2], "--only", all[1].substr(0, 6), "--dry-run"});
  CHECK(says(dry.out, "2 trials of 4, by --only"));
  CHECK(keys(dry.out) == std::vector<std::string>{all[1], all[2]});

  const auto one = place.run({"run", "study.toml", "--only", all[2]});
  CHECK(one.exit_code == 0);
  CHECK(says(one.err, "tiny: 1 done, 0 done before, 0 failed"));
  CHECK(place.query("SELECT substr(key, 1, 12) AS k FROM trials") == json({{{"k", all[2]}}}));
  CHECK(place.query("SELECT count(*) AS n FROM members WHERE experiment = 'tiny'")[0]["n"] == 4);
  CHECK(says(place.run({"table", "tiny", "--metric", "test/accuracy"}).out, "missing"));

  CHECK(says(place.run({"run", "study.toml", "--only", all[2]}).err, "0 done, 1 done before"));
  CHECK(says(place.run({"run", "study.toml", "--only", all[2], "--again"}).err, "1 done, 0 done before"));
  CHECK(says(place.run({"run", "study.toml"}).err, "3 done, 1 done before"));
  CHECK(place.query("SELECT count(*) AS n FROM members WHERE experiment = 'tiny'")[0]["n"] == 4);
}

TEST_CASE("--only lists the existing keys if no key begins with its value") {
  Workplace place;
  place.study(kGrid);
  const auto all = keys(place.run({"run", "study.toml", "--dry-run"}).out);
  std::string absent = all[0].substr(0, 8) == "00000000" ? "11111111" : "00000000";
  const auto none = place.run({"run", "study.toml", "--only", absent});
  CHECK(none.exit_code == 2);
  for (const auto& key : all) CHECK(says(none.err, key));
  for (const auto* wrong : {"abc", "xyzw", "ABCDEF", ""}) {
    const auto ended = place.run({"run", "study.toml", std::string("--only=") + wrong});
    INFO(wrong << ended.err);
    CHECK(ended.exit_code == 2);
    CHECK(says(ended.err, "--only"));
  }
  CHECK_FALSE(place.has_database());
}

TEST_CASE("a dry run shows the share of evaluation, and a run shows it if it is more than half") {
  Workplace place;
  place.study(kTiny + "[attention]\nplugin = \"linear\"\n");
  const auto much =
      "evaluation: 6 x 60 dev + 60 test examples, about 70 % of a trial's time (train.evaluate_every, "
      "train.evaluate_batches, train.test_batches)\n";
  CHECK(says(place.run({"run", "study.toml", "--dry-run"}).out, much));
  CHECK(says(place.run({"run", "study.toml"}).err, much));
  const std::vector<std::string> less = {"run",   "study.toml",          "--set", "train.evaluate_batches=1",
                                         "--set", "train.test_batches=1"};
  CHECK_FALSE(says(place.run(less).err, "evaluation:"));
  place.study(kTiny + "[attention]\nplugin = \"linear\"\n[grid]\ntrain.test_batches = [1, 6]\n");
  CHECK(says(place.run({"run", "study.toml", "--dry-run"}).out, "evaluation: about 67 to 70 % of a trial's time"));
  place.study(kTiny + "[attention]\nplugin = \"linear\"\n[grid]\ntrain.steps = [1000, 1001]\n");
  const auto alike = place.run({"run", "study.toml", "--dry-run"}).out;
  CHECK_FALSE(says(alike.substr(alike.find("evaluation: about ")), " to "));
  // The estimate counts a stream's windows if no state passes between them, and its segments otherwise. Dev and test each have
  // 100 segments of 15 positions.
  place.folder().write("text", std::string(20 * 1500, 'x'));
  const auto stream = [&](const std::string& attention) {
    place.study(
        "[experiment]\nname = \"stream\"\n[task]\nplugin = \"lm\"\ndata = \"text\"\nlength = 15\n[model]\nlayers = 1\n"
        "d_model = 16\n[train]\nsteps = 10\nbatch = 8\nstride = 5\n[attention]\nplugin = \"" +
        attention + "\"\n");
    const auto ended = place.run({"run", "study.toml", "--dry-run"});
    INFO(ended.err);
    return ended.out;
  };
  CHECK(says(stream("softmax"), "evaluation: 10 x 298 dev + 298 test examples"));
  CHECK(says(stream("transformer-xl"), "evaluation: 10 x 100 dev + 100 test examples"));
  const auto wide = place.run({"run", "study.toml", "--dry-run", "--set", "train.stride=15"});
  CHECK(wide.exit_code == 2);
  CHECK(says(wide.err,
             "train.stride = 15 changes nothing here: windows are as long as the task's segments (task.length), and it "
             "moves them by the same length; leave it out"));
  place.folder().write("study.toml", read_text(place.folder() / "study.toml") + "[grid]\ntrain.stride = [15, 5]\n");
  CHECK(place.run({"run", "study.toml", "--dry-run"}).exit_code == 0);
  place.study(
      "[task]\nplugin = \"lm\"\ndata = \"text\"\nlength = 15\n[train]\nbatch = 2000\n[attention]\nplugin = \"linear\"\n");
  const auto lanes = place.run({"run", "study.toml", "--dry-run"});
  CHECK(lanes.exit_code == 2);
  CHECK(says(lanes.err, "study.toml:6:9: train.batch = 2000: the training split has "));
  CHECK(says(lanes.err, "too few for a segment of 15 positions in each lane; lanes that fit: 1799"));
}

TEST_CASE("learned positions that training never reaches are reported by a dry run and by a run") {
  Workplace place;
  const std::string copy =
      "[task]\nplugin = \"copy\"\nlength = 16\ntest_length = 32\ntrain = 64\ndev = 8\ntest = 8\n[model]\nlayers = 1\n"
      "d_model = 16\nhidden = 16\n[train]\nsteps = 2\nbatch = 8\n[attention]\nplugin = \"linear\"\n";
  const auto what =
      "training uses 16 learned positions and the test 32; the test's further positions are untrained "
      "(model.positions = none, rotary or sinusoidal avoids this)\n";
  const auto dry = [&](const std::string& text) {
    place.study(text);
    const auto ended = place.run({"run", "study.toml", "--dry-run"});
    INFO(ended.err);
    CHECK(ended.exit_code == 0);
    return ended.out;
  };
  CHECK(says(dry(copy + "[grid]\nmodel.positions = [\"learned\", \"none\", \"sinusoidal\"]\n"),
             std::string("positions: in 1 of 3 trials, ") + what));
  CHECK_FALSE(says(dry(copy + "[grid]\ntask.test_length = [16]\n"), "positions: "));
  CHECK(says(dry(copy + "[grid]\ntask.test_length = [32, 64]\n"), "training uses 16 learned positions and the test 32 to 64"));
  CHECK(says(dry(copy), std::string("\npositions: ") + what));
  CHECK(says(place.run({"run", "study.toml"}).err, std::string("positions: ") + what));
}

TEST_CASE("plugins in a folder that another user can write are left out, with a message") {
  Workplace place;
  const auto plugins = place.folder() / "data/ablate/plugins";
  std::filesystem::create_directories(plugins);
  std::filesystem::copy_file(kFaulty + "trial/unpadded.so", plugins / "unpadded.so");
  CHECK(place.run({"plugins", "unpadded"}).exit_code == 0);
  std::filesystem::permissions(plugins, std::filesystem::perms::all);
  const auto refused = place.run({"plugins", "unpadded"});
  CHECK(refused.exit_code == 3);
  CHECK(says(refused.err, "can be written by anyone; run chmod o-w on it, or name "));
  CHECK(says(place.run({"plugins"}).out, "refused\n  " + (plugins / "unpadded.so").string()));
  CHECK(place.run({"plugins", "unpadded", "--plugins", plugins.string()}).exit_code == 0);
}

TEST_CASE("a dry run reports more threads than cores") {
  Workplace place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string();
  const auto words = "warning: 1 trial of 1000 threads (train.threads) on ";
  const auto planned = place.run({"run", study, "--set", "train.threads=1000", "--dry-run"});
  CHECK(planned.exit_code == 0);
  CHECK(says(planned.out, words));
  CHECK_FALSE(says(place.run({"run", study, "--dry-run"}).out, "warning: "));
}
