// Writes text for users. The program goes on after a short wait if a reader, terminal or disk is slow or missing.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

namespace ablate {

/// Writes texts to a descriptor that may block: a pipe that nobody reads, a terminal after Ctrl-S, a full disk. A separate
/// thread writes. Text beyond a limit is left out. When the descriptor takes text again, the number of missing lines is
/// written. An object is for one thread only. A simulation overrides write().
class Output {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// Does not own the descriptor. `patience` is the longest wait for one text.
  explicit Output(int descriptor, Milliseconds patience = Milliseconds(200));
  /// Waits at most the patience. Text that is not written by then is lost.
  virtual ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  int descriptor() const noexcept;

  /// Waits until the text is written, so that its order among other programs' text is kept. Waits at most the patience, and not
  /// at all while an earlier text is late. Returns false if the whole text is left out.
  virtual bool write(std::string_view text) noexcept;

  /// True if no text waits to be written.
  bool flows() const noexcept;

  /// Waits until no text waits to be written, but at most `longest`.
  void finish(Milliseconds longest) noexcept;

 private:
  struct State;
  static void run(const std::shared_ptr<State>& state);
  bool start() noexcept;

  std::shared_ptr<State> state_;
  Milliseconds patience_;
};

/// Standard error of this process; never destroyed.
Output& standard_error();

}  // namespace ablate
