// Writing for people: no reader, terminal or disk keeps the program waiting, and none ends what is being done.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

namespace ablate {

/// Texts to a descriptor that may take none: a pipe that nobody reads, a terminal after Ctrl-S, a full disk. A thread of its
/// own writes them. What is more than a bound is left out, and how many lines that were is said once it takes texts again. One
/// thread. A simulation takes the texts itself.
class Output {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// @param descriptor stays the caller's @param patience for one text
  explicit Output(int descriptor, Milliseconds patience = Milliseconds(200));
  /// What is not written by then never is.
  virtual ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  int descriptor() const noexcept;

  /// Usually it is written when this returns, so that it keeps its place among what others write there. Waits for that, but not
  /// while an earlier text is still unwritten. @return false where the text, as a whole, is left out
  virtual bool write(std::string_view text) noexcept;

  /// Whether nothing waits to be written.
  bool flows() const noexcept;

  /// Waits until nothing waits to be written, at most so long.
  void finish(Milliseconds longest) noexcept;

 private:
  struct State;
  static void run(const std::shared_ptr<State>& state);
  bool start() noexcept;

  std::shared_ptr<State> state_;
  Milliseconds patience_;
};

/// Of this process; never destroyed.
Output& standard_error();

}  // namespace ablate
