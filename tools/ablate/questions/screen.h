// A picture that takes a terminal's whole window, and gives it back.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/util/output.h"

namespace ablate {

/// On stdout. While it lives the terminal shows its other screen, also after Ctrl-Z and `fg`; when it goes, however that comes,
/// what was there before. Only one at a time.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Whether stdout is a terminal that can move its cursor.
  static bool is_there();

  struct Size {
    std::size_t columns = 100, rows = 0;  ///< 0: not known
    bool operator==(const Size&) const = default;
  };
  /// As it is now: who asks several times a second needs no SIGWINCH.
  static Size size();

  /// @param lines no longer than the window is wide, without line ends
  void show(const std::vector<std::string>& lines);
  /// Stops this process where Ctrl-Z asks for it. @return whether it did, so that the picture has to be shown again
  bool stop_if_asked();

 private:
  void enter();
  void leave();

  Output output_;
};

}  // namespace ablate
