#include "tools/plot/fonts.h"

#include <cairo.h>

#include <algorithm>

namespace ablate {
namespace {

/// As papers have them; then those with many characters. What is not installed stands for the system's sans-serif.
constexpr const char* kFamilies[] = {"Liberation Sans", "DejaVu Sans", "sans-serif", "Noto Sans CJK SC", "Unifont"};

struct Shaped {
  double width = 0;
  bool whole = true;  ///< each character has a glyph
};

Shaped shape(cairo_scaled_font_t* font, const std::string& text) {
  cairo_glyph_t* glyphs = nullptr;
  int count = 0;
  if (cairo_scaled_font_text_to_glyphs(font, 0, 0, text.data(), static_cast<int>(text.size()), &glyphs, &count, nullptr,
                                       nullptr, nullptr) != CAIRO_STATUS_SUCCESS)
    return {0, false};
  Shaped shaped;
  shaped.whole = std::all_of(glyphs, glyphs + count, [](const cairo_glyph_t& glyph) { return glyph.index != 0; });
  cairo_text_extents_t extents;
  cairo_scaled_font_glyph_extents(font, glyphs, count, &extents);
  shaped.width = extents.x_advance;
  cairo_glyph_free(glyphs);
  return shaped;
}

}  // namespace

Fonts::~Fonts() {
  for (const auto& [key, font] : fonts_) cairo_scaled_font_destroy(font);
}

cairo_scaled_font_t* Fonts::of_family(const std::string& family, double size) {
  auto& font = fonts_[{family, size}];
  if (font != nullptr) return font;
  auto* face = cairo_toy_font_face_create(family.c_str(), CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  auto* options = cairo_font_options_create();
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);  // the same widths in all formats
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_matrix_t scaled, plain;
  cairo_matrix_init_scale(&scaled, size, size);
  cairo_matrix_init_identity(&plain);
  font = cairo_scaled_font_create(face, &scaled, &plain, options);
  cairo_font_options_destroy(options);
  cairo_font_face_destroy(face);
  return font;
}

std::pair<cairo_scaled_font_t*, bool> Fonts::find(const std::string& text, double size) {
  for (const auto* family : kFamilies)
    if (auto* font = of_family(family, size); shape(font, text).whole) return {font, true};
  return {of_family(kFamilies[0], size), false};
}

cairo_scaled_font_t* Fonts::font(const std::string& text, double size) { return find(text, size).first; }

cairo_scaled_font_t* Fonts::shown_font(const std::string& text, double size) {
  const auto [font, whole] = find(text, size);
  if (!whole) without_glyphs_.insert(text);
  return font;
}

double Fonts::width(const std::string& text, double size) { return shape(font(text, size), text).width; }

std::string Fonts::cut(const std::string& text, double size, double most) {
  if (width(text, size) <= most) return text;
  auto part = text;
  while (!part.empty()) {
    while (!part.empty() && (static_cast<unsigned char>(part.back()) & 0xC0) == 0x80) part.pop_back();
    if (!part.empty()) part.pop_back();
    if (width(part + "…", size) <= most) break;
  }
  return part + "…";
}

}  // namespace ablate
