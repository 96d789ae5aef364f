// The setting keep_weights: from the study to the file, which other programs can read.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

/// Reads a safetensors file in plain Python, without a package.
const std::string kRead = R"(
import json, struct, sys
data = open(sys.argv[1], 'rb').read()
length = struct.unpack('<Q', data[:8])[0]
header = json.loads(data[8:8 + length])
about = header.pop('__metadata__')
assert all(type(text) is str for text in about.values())
end = 0
for name, tensor in header.items():
    count = 1
    for size in tensor['shape']: count *= size
    assert tensor['dtype'] == 'F32' and tensor['data_offsets'] == [end, end + 4 * count], name
    values = struct.unpack('<%df' % count, data[8 + length:][slice(*tensor['data_offsets'])])
    assert all(value == value and abs(value) < 1e6 for value in values), name
    end += 4 * count
assert len(data) == 8 + length + end
print(json.dumps({'about': about, 'numbers': end // 4, 'names': list(header)}))
)";

}  // namespace

TEST_CASE("a study can store each trial's weights, and trials that were done before are reported") {
  Workplace place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"softmax\"\n").string();
  REQUIRE(place.run({"run", study}).exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(place.folder() / "ablate.db.weights"));

  const std::vector<std::string> keeping = {"run", study, "--set", "experiment.keep_weights=true"};
  const auto before = place.run(keeping);
  CHECK(says(before.err, "note: experiment.keep_weights: 1 of the trials that are done has no kept weights; --again runs"));
  CHECK(says(before.err, "0 done, 1 done before"));  // keep_weights is not part of a key
  CHECK(place.run({"export", "weights", "1", "--out", "w.safetensors"}).exit_code == 2);

  auto again = keeping;
  again.push_back("--again");
  REQUIRE(place.run(again).exit_code == 0);
  CHECK_FALSE(says(place.run(keeping).err, "keep_weights"));
  const auto key = place.query("SELECT key FROM trials")[0]["key"].get<std::string>();
  const auto exported = place.run({"export", "weights", key.substr(0, 8), "--out", "w.safetensors"});
  INFO(exported.err);
  REQUIRE(exported.exit_code == 0);
  place.folder().write("read.py", kRead);
  const auto read = place.start_shell("python3 read.py w.safetensors").wait();
  INFO(read.err);
  REQUIRE(read.exit_code == 0);
  const auto content = json::parse(read.out);
  CHECK(content["about"]["key"] == key);
  CHECK(content["about"]["experiments"] == "tiny");
  CHECK(content["about"]["attempt"] == "2");
  CHECK(content["numbers"] >= place.query("SELECT \"model/parameters\" AS n FROM trials")[0]["n"]);
  CHECK(says(place.run({"show", "2"}).out, ".safetensors, "));
  CHECK(says(place.run({"db", "check"}).out, "ablate.db.weights: 1 file, "));

  REQUIRE(place.run({"experiment", "delete", "tiny", "--yes"}).exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(place.folder() / "ablate.db.weights"));
}

TEST_CASE("a folder for weights that cannot be created fails no trial and is reported") {
  Workplace place;
  place.folder().write("ablate.db.weights", "a file in its place");
  const auto study = place.study(kTiny + "[attention]\nplugin = \"softmax\"\n").string();
  const auto ran = place.run({"run", study, "--set", "experiment.keep_weights=true"});
  CHECK(ran.exit_code == 0);
  CHECK(says(ran.err, "warning: the best weights of "));
  CHECK(says(place.run({"show", "1"}).out, "the best weights are not kept: cannot write "));
}
