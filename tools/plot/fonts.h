// Texts as glyphs: which font has all of a text's characters, and how wide it is.
#pragma once

#include <map>
#include <set>
#include <string>

typedef struct _cairo_scaled_font cairo_scaled_font_t;  // NOLINT(bugprone-reserved-identifier): cairo's own name

namespace ablate {

/// One thread.
class Fonts {
 public:
  Fonts() = default;
  ~Fonts();
  Fonts(const Fonts&) = delete;
  Fonts& operator=(const Fonts&) = delete;

  /// The font for a text: the first of a list that has all its characters, else the first of all. @param size in points
  cairo_scaled_font_t* font(const std::string& text, double size);
  /// The same for a text that is shown.
  cairo_scaled_font_t* shown_font(const std::string& text, double size);
  /// In points, from the start to where a next character would stand.
  double width(const std::string& text, double size);
  /// The text, or as much of its beginning as fits, and "…".
  std::string cut(const std::string& text, double size, double most);

  /// Shown texts of which no font here has all characters.
  const std::set<std::string>& without_glyphs() const { return without_glyphs_; }

 private:
  std::pair<cairo_scaled_font_t*, bool> find(const std::string& text, double size);  ///< and whether it has all
  cairo_scaled_font_t* of_family(const std::string& family, double size);

  std::map<std::pair<std::string, double>, cairo_scaled_font_t*> fonts_;
  std::set<std::string> without_glyphs_;
};

/// How high capitals and digits are, and a line with what hangs below it, of a font's size.
inline constexpr double kCapital = 0.72, kLineHeight = 1.25;

}  // namespace ablate
