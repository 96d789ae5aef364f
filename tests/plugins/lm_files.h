// Small texts in the published forms: WikiText's three files, and PG-19's folder of books.
#pragma once

#include "tests/plugins/zip_files.h"

namespace ablate::tests {

/// Returns lines like the published lines: a space before each word and before the end of the line.
inline std::string wikitext(std::size_t lines, unsigned seed) {
  std::mt19937 random(seed);
  const auto drawn = [&] { return (random() >> 8) % 30; };
  std::string text;
  for (std::size_t line = 0; line < lines; ++line) {
    for (auto words = drawn() % 9; words > 0; --words) text += " w" + std::to_string(std::min(drawn(), drawn()));
    text += " \n";
  }
  return text;
}

struct WikiTextFolder {
  TemporaryFolder folder;
  std::array<std::string, 3> texts = {wikitext(400, 1), wikitext(60, 2), wikitext(60, 3)};
  static constexpr const char* kNames[] = {"wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens"};

  WikiTextFolder() {
    fs::create_directory(root());
    write();
  }
  void write() const {
    for (std::size_t split = 0; split < 3; ++split) write_text(file(split), texts[split]);
  }
  fs::path root() const { return folder.path() / "wikitext-103"; }
  fs::path file(std::size_t split) const { return root() / kNames[split]; }
  /// Writes an archive beside the folder, with the first `files` files.
  fs::path pack(std::size_t files = 3) const {
    std::vector<std::pair<std::string, Bytes>> entries;
    for (std::size_t split = 0; split < files; ++split)
      entries.emplace_back(std::string("wikitext-103/") + kNames[split], Bytes(texts[split].begin(), texts[split].end()));
    const auto path = folder.path() / "wikitext-103-v1.zip";
    write_zip(path, entries);
    return path;
  }
};

struct BooksFolder {
  TemporaryFolder folder;
  BooksFolder() {
    for (const std::string split : {"train", "validation", "test"}) fs::create_directory(folder.path() / split);
    for (const std::string name : {"train/101", "train/9", "train/12", "validation/7", "test/8"})
      write_text(file(name), "book " + name + "\r\nit  ends" + std::string(40, '.') + "  and\nthere");
  }
  fs::path file(const std::string& name) const { return folder.path() / (name + ".txt"); }
};

}  // namespace ablate::tests
