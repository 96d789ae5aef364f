#include "tools/plot/canvas.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/util/error.h"
#include "core/util/markup.h"

namespace ablate {
namespace {

/// Returns the SVG with a title, and a description with all texts, a line each.
std::string with_texts(const std::string& svg, const std::string& title, const std::vector<PlacedText>& texts) {
  const auto begin = svg.find("<svg");
  const auto end = svg.find('>', begin);
  if (begin == std::string::npos || end == std::string::npos) return svg;
  auto more = "\n<!-- written by ablate " ABLATE_VERSION " -->\n<title>" + markup_escaped(title) + "</title>\n<desc>";
  for (const auto& [text, box] : texts) more += markup_escaped(text) + "\n";
  return svg.substr(0, end + 1) + more + "</desc>" + svg.substr(end + 1);
}

/// Size of a PNG's signature and of its first chunk, IHDR: length, name, 13 bytes, checksum.
constexpr std::size_t kHead = 8 + 4 + 4 + 13 + 4;

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 255);
  return bytes;
}

std::string chunk(const std::string& name, const std::string& content) {
  const auto checked = name + content;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return big_endian(static_cast<std::uint32_t>(content.size())) + checked + big_endian(static_cast<std::uint32_t>(sum));
}

/// Returns the PNG with its resolution (pHYs), so that a paper shows it at its size, and with its program and title (tEXt
/// Software and iTXt Title; PNG specification, third edition, section 11.3).
std::string with_chunks(const std::string& png, double dots_per_inch, const std::string& software, const std::string& title) {
  const auto per_metre = big_endian(static_cast<std::uint32_t>(std::lround(dots_per_inch / 0.0254)));
  const std::string nothing(1, '\0'), metres(1, '\1');
  // The fields after iTXt's keyword: not compressed, no method, no language, no translated keyword, then UTF-8.
  const auto more = chunk("pHYs", per_metre + per_metre + metres) + chunk("tEXt", "Software" + nothing + software) +
                    chunk("iTXt", "Title" + nothing + nothing + nothing + nothing + nothing + title);
  return png.substr(0, kHead) + more + png.substr(kHead);
}

constexpr const char* kCreator = "ablate " ABLATE_VERSION;

cairo_status_t append(void* to, const unsigned char* bytes, unsigned count) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

constexpr Colour of_hex(unsigned hex) { return {(hex >> 16) / 255.0, (hex >> 8 & 255) / 255.0, (hex & 255) / 255.0}; }

/// Neighbours in the list differ much in luminance.
constexpr std::array kColours = {of_hex(0x000000), of_hex(0xE69F00), of_hex(0x0072B2), of_hex(0xCC79A7),
                                 of_hex(0x009E73), of_hex(0x56B4E9), of_hex(0xD55E00)};
constexpr std::size_t kStyles = kColours.size();
static_assert(kStyles == db::kFigureMarks);

const std::array<std::vector<double>, kStyles> kDashes = {
    {{}, {4, 1.6}, {1.1, 1.3}, {6, 1.6, 1.1, 1.6}, {2.4, 1.2}, {8, 2.2}, {4.5, 1.3, 1.1, 1.3, 1.1, 1.3}}};

/// @param inner radius of every second corner; 1: a regular polygon
std::vector<Place> polygon(int corners, double turned, double inner = 1) {
  std::vector<Place> all;
  for (int i = 0; i < corners; ++i) {
    const double angle = turned + 2 * std::numbers::pi * i / corners, radius = i % 2 == 0 ? 1 : inner;
    all.push_back({radius * std::sin(angle), -radius * std::cos(angle)});
  }
  return all;
}

const std::array<std::vector<Place>, kStyles>& markers() {
  constexpr double kPi = std::numbers::pi;
  static const std::array<std::vector<Place>, kStyles> all = {
      polygon(24, 0),       polygon(4, kPi / 4),      polygon(3, 0), polygon(4, 0), polygon(3, kPi),
      polygon(10, 0, 0.45), polygon(8, kPi / 4, 0.35)};
  return all;
}

constexpr std::array kHeat = {of_hex(0x00224E), of_hex(0x1B386D), of_hex(0x434E6C), of_hex(0x626570), of_hex(0x7D7C78),
                              of_hex(0x9B9476), of_hex(0xBCAE6C), of_hex(0xDDC85A), of_hex(0xFEE838)};

/// Fonts of papers first, then fonts with many characters. The system replaces a missing font by its sans-serif.
constexpr const char* kFamilies[] = {"Liberation Sans", "DejaVu Sans", "sans-serif", "Noto Sans CJK SC", "Unifont"};

struct Shaped {
  double width = 0;
  bool whole = true;  ///< true if each character has a glyph
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

struct Canvas::Sheet {
  Picture picture;
  std::string title, written;
  std::vector<PlacedText> texts;
  cairo_surface_t* surface = nullptr;
  cairo_t* cairo = nullptr;
};

Canvas::Canvas(Picture picture, double width, double height, const std::string& title, Fonts& fonts)
    : sheet_(std::make_unique<Sheet>()), fonts_(fonts) {
  auto& sheet = *sheet_;
  sheet.picture = picture;
  sheet.title = title;
  constexpr double kScale = kDotsPerInch / 72;
  switch (picture) {
    case Picture::kSvg:
      sheet.surface = cairo_svg_surface_create_for_stream(append, &sheet.written, width, height);
      break;
    case Picture::kPdf:
      sheet.surface = cairo_pdf_surface_create_for_stream(append, &sheet.written, width, height);
      cairo_pdf_surface_set_metadata(sheet.surface, CAIRO_PDF_METADATA_TITLE, title.c_str());
      cairo_pdf_surface_set_metadata(sheet.surface, CAIRO_PDF_METADATA_CREATOR, kCreator);
      // Without a date, equal figures are equal files.
      cairo_pdf_surface_set_metadata(sheet.surface, CAIRO_PDF_METADATA_CREATE_DATE, nullptr);
      break;
    case Picture::kPng:
      sheet.surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(width * kScale)),
                                                 static_cast<int>(std::lround(height * kScale)));
      break;
  }
  sheet.cairo = cairo_create(sheet.surface);
  if (picture == Picture::kPng) cairo_scale(sheet.cairo, kScale, kScale);
  cairo_set_line_join(sheet.cairo, CAIRO_LINE_JOIN_ROUND);
  // An SVG may be read on a dark screen, so it has a background. A PDF lies on a page with its own colour.
  if (picture != Picture::kPdf) fill(Box{0, 0, width + 1, height + 1}, kPaper);
}

Canvas::~Canvas() {
  cairo_destroy(sheet_->cairo);
  cairo_surface_destroy(sheet_->surface);
}

void Canvas::trace(std::span<const Place> places) {
  cairo_new_path(sheet_->cairo);
  for (const auto& [x, y] : places) cairo_line_to(sheet_->cairo, x, y);
}

void Canvas::stroke(const Pen& pen) {
  auto* cairo = sheet_->cairo;
  cairo_set_source_rgba(cairo, pen.colour.red, pen.colour.green, pen.colour.blue, pen.colour.alpha);
  cairo_set_line_width(cairo, pen.width);
  cairo_set_dash(cairo, pen.dash.data(), static_cast<int>(pen.dash.size()), 0);
  cairo_stroke(cairo);
}

void Canvas::line(std::span<const Place> places, const Pen& pen) {
  trace(places);
  stroke(pen);
}

void Canvas::outline(std::span<const Place> places, const Pen& pen) {
  trace(places);
  cairo_close_path(sheet_->cairo);
  stroke(pen);
}

void Canvas::fill(std::span<const Place> places, const Colour& colour) {
  trace(places);
  cairo_close_path(sheet_->cairo);
  cairo_set_source_rgba(sheet_->cairo, colour.red, colour.green, colour.blue, colour.alpha);
  cairo_fill(sheet_->cairo);
}

void Canvas::fill(const Box& box, const Colour& colour) {
  const Place corners[] = {{box.x, box.y}, {box.right(), box.y}, {box.right(), box.bottom()}, {box.x, box.bottom()}};
  fill(corners, colour);
}

void Canvas::text(const Place& at, const std::string& text, const TextStyle& style) {
  if (text.empty()) return;
  auto* cairo = sheet_->cairo;
  auto* font = fonts_.shown_font(text, style.size);
  cairo_glyph_t* glyphs = nullptr;
  cairo_text_cluster_t* clusters = nullptr;
  int count = 0, cluster_count = 0;
  cairo_text_cluster_flags_t flags{};
  const auto length = static_cast<int>(text.size());
  if (cairo_scaled_font_text_to_glyphs(font, 0, 0, text.data(), length, &glyphs, &count, &clusters, &cluster_count, &flags) !=
      CAIRO_STATUS_SUCCESS)
    throw Error("a text cannot be drawn: " + text);
  const double width = fonts_.width(text, style.size), height = style.size * kCapital;
  const double before = style.along == At::kStart ? 0 : style.along == At::kMiddle ? width / 2 : width;
  sheet_->texts.push_back({text, style.upright ? Box{at.x - height / 2, at.y - (width - before), height, width}
                                               : Box{at.x - before, at.y - height / 2, width, height}});
  cairo_save(cairo);
  cairo_translate(cairo, at.x, at.y);
  if (style.upright) cairo_rotate(cairo, -std::numbers::pi / 2);
  cairo_translate(cairo, -before, height / 2);
  auto* options = cairo_font_options_create();
  cairo_scaled_font_get_font_options(font, options);
  cairo_set_font_options(cairo, options);
  cairo_font_options_destroy(options);
  cairo_set_font_face(cairo, cairo_scaled_font_get_font_face(font));
  cairo_set_font_size(cairo, style.size);
  cairo_set_source_rgba(cairo, style.colour.red, style.colour.green, style.colour.blue, style.colour.alpha);
  cairo_show_text_glyphs(cairo, text.data(), length, glyphs, count, clusters, cluster_count, flags);
  cairo_restore(cairo);
  cairo_glyph_free(glyphs);
  cairo_text_cluster_free(clusters);
}

void Canvas::clip(const Box& box) {
  cairo_save(sheet_->cairo);
  cairo_rectangle(sheet_->cairo, box.x, box.y, box.width, box.height);
  cairo_clip(sheet_->cairo);
}

void Canvas::unclip() { cairo_restore(sheet_->cairo); }

const std::vector<PlacedText>& Canvas::texts() const { return sheet_->texts; }

std::string Canvas::bytes() {
  auto& sheet = *sheet_;
  cairo_show_page(sheet.cairo);
  auto status = cairo_status(sheet.cairo);
  if (status == CAIRO_STATUS_SUCCESS && sheet.picture == Picture::kPng)
    status = cairo_surface_write_to_png_stream(sheet.surface, append, &sheet.written);
  cairo_surface_finish(sheet.surface);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(sheet.surface);
  if (status != CAIRO_STATUS_SUCCESS)
    throw Error(fmt::format("the figure cannot be drawn: {}", cairo_status_to_string(status)));
  if (sheet.picture == Picture::kSvg) return with_texts(sheet.written, sheet.title, sheet.texts);
  if (sheet.picture == Picture::kPng) return with_chunks(sheet.written, kDotsPerInch, kCreator, sheet.title);
  return std::move(sheet.written);
}

SeriesStyle series_style(std::size_t style, std::size_t mark) {
  const auto round = style / kStyles;
  if (mark == db::kMarkOfStyle) mark = style + 2 * round;
  return {kColours[style % kStyles], kDashes[(style + round) % kStyles], markers()[mark % kStyles]};
}

Colour heat_colour(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (kHeat.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), kHeat.size() - 2);
  const double part = at - static_cast<double>(below);
  const auto between = [&](double a, double b) { return a + part * (b - a); };
  const auto &a = kHeat[below], &b = kHeat[below + 1];
  return {between(a.red, b.red), between(a.green, b.green), between(a.blue, b.blue)};
}

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
