// Tasks on published data: `ablate plugins TASK` and the error for missing data name the data's source and form.
#include "tests/plugins/task.h"

using namespace ablate;
using namespace ablate::tests;

TEST_CASE("help for published data names address and files, and so does the error if data are missing") {
  const TemporaryFolder folder;
  const std::pair<std::string, std::vector<std::string>> tasks[] = {
      {"listops",
       {"https://storage.googleapis.com/long-range-arena/lra_release.gz", "basic_train.tsv", "Source, a tab, Target"}},
      {"image",
       {"https://github.com/zalandoresearch/fashion-mnist", "https://www.cs.toronto.edu/~kriz/cifar.html",
        "cifar-10-binary.tar.gz", "https://image-net.org", "Imagenet64_{train_part1,train_part2,val}_npz.zip"}},
      {"pathfinder",
       {"https://storage.googleapis.com/long-range-arena/lra_release.gz", "pathfinder32/curv_contour_length_14",
        "folder, file, number, label"}},
      {"retrieval", {"https://storage.googleapis.com/long-range-arena/lra_release.gz", "label, id1, id2, text1, text2"}},
      {"text", {"https://ai.stanford.edu/~amaas/data/sentiment", "aclImdb_v1.tar.gz", "aclImdb_labelled.tar.xz"}},
      {"transactions", {"https://sorry.vse.cz/~berka/challenge/pkdd1999/", "data_berka.zip", "client.asc"}},
      {"lm",
       {"https://mattmahoney.net/dc/enwik8.zip", "https://wikitext.smerity.com/wikitext-103-v1.zip", "wiki.{train,valid,test}",
        "https://storage.googleapis.com/deepmind-gutenberg", "NUMBER.txt"}},
  };
  for (const auto& [id, texts] : tasks) {
    INFO(id);
    const auto help = describe(load_library(plugin_folder() / (id + ".so"))).find("data")->help;
    check_mentions(help, texts);
    check_mentions(message_of([&] { make_task(id, {{"data", "./nowhere"}}, folder.path())->files(); }), {"expected " + help});
  }
}
