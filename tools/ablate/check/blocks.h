// Blocks of lines that are written at the same time, and printed one after the other.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "tools/ablate/streams.h"

namespace ablate {

/// Block 0 is printed as it comes, block 1 when block 0 is closed, and so on.
class Blocks {
 public:
  explicit Blocks(std::size_t count) : blocks_(count) {}

  void add(std::size_t block, const std::string& text) {
    blocks_[block].text += text;
    print_some();
  }
  void close(std::size_t block) {
    blocks_[block].closed = true;
    print_some();
  }

 private:
  struct Block {
    std::string text;
    bool closed = false;
  };

  void print_some() {
    for (; turn_ < blocks_.size(); ++turn_) {
      print("{}", blocks_[turn_].text);
      blocks_[turn_].text.clear();
      if (!blocks_[turn_].closed) break;
    }
    std::fflush(stdout);
  }

  std::vector<Block> blocks_;
  std::size_t turn_ = 0;
};

}  // namespace ablate
