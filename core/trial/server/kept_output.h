// What a job prints, as far as it is kept. Torch-free.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ablate {

/// Its end is held in memory; where that is not all of it, a file has its beginning. The file is a convenience: where it cannot
/// be written nothing else suffers.
class KeptOutput {
 public:
  static constexpr std::size_t kTail = 8192;               ///< bytes at the end that are held
  static constexpr std::int64_t kMostInFile = 10'000'000;  ///< bytes at the beginning that a file has

  /// @param file a new one, made with its folder as soon as there is more than the tail; "": none
  explicit KeptOutput(std::string file) : file_(std::move(file)) {}

  void take(std::string_view piece);

  const std::string& tail() const { return tail_; }
  std::int64_t bytes() const { return bytes_; }          ///< all
  const std::string& unkept() const { return unkept_; }  ///< why the file was given up; "": it was not

 private:
  /// Opened for each piece: a worker has few descriptors, and its jobs inherit none of these.
  void write(std::string_view piece);

  std::string file_, tail_, unkept_;
  std::int64_t bytes_ = 0, in_file_ = 0;
};

}  // namespace ablate
