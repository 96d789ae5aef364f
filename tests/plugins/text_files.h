// IMDb reviews in the published form: a folder, and archives of the folder.
#pragma once

#include "tests/plugins/task.h"

namespace ablate::tests {

struct ReviewsFolder {
  TemporaryFolder folder;

  /// Writes `reviews` reviews for each split and label, two for each film. Train and test have different films. Review 3 of
  /// train/pos is "train pos 3", followed by 7 * 3 % 40 dots.
  explicit ReviewsFolder(int reviews) {
    for (const std::string split : {"train", "test"})
      for (const std::string label : {"pos", "neg"}) {
        fs::create_directories(root() / split / label);
        std::string urls;
        for (int i = 0; i < reviews; ++i) {
          write(split + "/" + label + "/" + std::to_string(i) + (label == "pos" ? "_9.txt" : "_2.txt"),
                split + " " + label + " " + std::to_string(i) + std::string(static_cast<std::size_t>(7 * i % 40), '.'));
          urls += (split == "train" ? "http://www.imdb.com/title/tt1" : "http://www.imdb.com/title/tt2") +
                  std::to_string(i / 2) + "/usercomments\n";
        }
        write(split + "/urls_" + label + ".txt", urls);
      }
  }
  fs::path root() const { return folder.path() / "aclImdb"; }
  void write(const std::string& name, const std::string& text) const { write_text(root() / name, text); }
  /// Packs an archive beside aclImdb.
  /// @param options options of tar, as "czf"
  fs::path pack(const std::string& name, const std::string& options) const {
    const auto path = folder.path() / name;
    REQUIRE(std::system(("tar -C '" + folder.path().string() + "' -" + options + " '" + path.string() + "' aclImdb").c_str()) ==
            0);
    return path;
  }
};

inline std::unique_ptr<Task> load_reviews(const fs::path& data, nlohmann::json changes = {}) {
  if (!changes.contains("dev")) changes["dev"] = 4;
  changes["data"] = data.string();
  return load_task("text", changes, data.parent_path());
}

/// Returns a row's bytes, as text.
inline std::string text_of(const Example& example) {
  std::string text;
  for (const auto id : example.ids) text += static_cast<char>(id - 1);
  return text;
}

}  // namespace ablate::tests
