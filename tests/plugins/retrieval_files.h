// Small files with pairs of documents.
#pragma once

#include "tests/plugins/task.h"

namespace ablate::tests {

struct PairsFolder {
  TemporaryFolder folder;

  /// Writes `pairs` random pairs in each split, with alternating labels. A text has 1 to 40 random bytes with values from 11 to
  /// 250 (a blank instead of a carriage return), and then a letter.
  explicit PairsFolder(int pairs) {
    std::mt19937 random(1);
    for (const std::string split : {"train", "eval", "test"}) {
      std::string lines;
      for (int i = 0; i < pairs; ++i) {
        lines += (i % 2 == 0 ? "0\t" : "1.0\t") + split + std::to_string(i) + "\tB" + std::to_string(i);
        for (int text = 0; text < 2; ++text) {
          lines += '\t';
          for (auto left = 1 + random() % 40; left > 0; --left) lines += static_cast<char>(11 + random() % 240);
          lines += static_cast<char>('a' + random() % 26);  // a letter, never part of a line end
        }
        lines += '\n';
      }
      std::replace(lines.begin(), lines.end(), '\r', ' ');
      write(split, lines);
    }
  }
  void write(const std::string& split, const std::string& lines) const { write_text(file(split), lines); }
  fs::path file(const std::string& split) const { return folder.path() / ("new_aan_pairs." + split + ".tsv"); }
  std::string path() const { return folder.path().string(); }
};

}  // namespace ablate::tests
