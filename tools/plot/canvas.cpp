#include "tools/plot/canvas.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/util/error.h"
#include "core/util/markup.h"

namespace ablate {
namespace {

/// The SVG with a title, and a description of all texts, a line each.
std::string with_texts(const std::string& svg, const std::string& title, const std::vector<PlacedText>& texts) {
  const auto begin = svg.find("<svg");
  const auto end = svg.find('>', begin);
  if (begin == std::string::npos || end == std::string::npos) return svg;
  auto more = "\n<!-- written by ablate " ABLATE_VERSION " -->\n<title>" + markup_escaped(title) + "</title>\n<desc>";
  for (const auto& [text, box] : texts) more += markup_escaped(text) + "\n";
  return svg.substr(0, end + 1) + more + "</desc>" + svg.substr(end + 1);
}

/// Signature, and the chunk IHDR, which comes first: length, name, 13 bytes, checksum.
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

/// The PNG with its resolution (pHYs), so that a paper shows it in its size, who wrote it and what it is (tEXt Software and
/// iTXt Title; PNG specification, third edition, section 11.3).
std::string with_chunks(const std::string& png, double dots_per_inch, const std::string& software, const std::string& title) {
  const auto per_metre = big_endian(static_cast<std::uint32_t>(std::lround(dots_per_inch / 0.0254)));
  const std::string nothing(1, '\0'), metres(1, '\1');
  // After the keyword of iTXt: not compressed, no method, no language, no translated keyword; then UTF-8.
  const auto more = chunk("pHYs", per_metre + per_metre + metres) + chunk("tEXt", "Software" + nothing + software) +
                    chunk("iTXt", "Title" + nothing + nothing + nothing + nothing + nothing + title);
  return png.substr(0, kHead) + more + png.substr(kHead);
}

constexpr const char* kCreator = "ablate " ABLATE_VERSION;

cairo_status_t append(void* to, const unsigned char* bytes, unsigned count) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
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
      // The same figure is the same file, whenever it is drawn.
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
  // An SVG is read on dark screens, too; a PDF lies on a page that has its own colour.
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

}  // namespace ablate
