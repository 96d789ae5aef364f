// Drawings: texts do not overlap and stay on the sheet, an SVG parses, and a PNG has the requested size.
#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/process.h"
#include "tools/plot/draw.h"

using namespace ablate;
using db::Figure;
using Shape = db::FigureSeries::Shape;

namespace {

/// Returns a figure in which each panel has a line over steps for each name.
Figure lines(const std::vector<std::string>& names, std::size_t panels = 1) {
  Figure figure;
  for (std::size_t p = 0; p < panels; ++p) {
    auto& panel = figure.panels.emplace_back();
    panel.title = panels > 1 ? "task " + std::to_string(p) : "";
    panel.x.label = "step";
    panel.y.label = "test/accuracy (%)";
    for (std::size_t i = 0; i < names.size(); ++i) {
      db::FigureSeries series{names[i], i, Shape::kLine};
      for (int step = 0; step <= 2000; step += 100) {
        const double y = 40 + 30 * std::tanh(step / 800.0) + 3.0 * static_cast<double>(i);
        series.points.push_back({.x = static_cast<double>(step), .y = y, .y_low = y - 2, .y_high = y + 2});
      }
      panel.series.push_back(series);
    }
  }
  figure.caption = "Mean over seeds; band: ± standard deviation over seeds.";
  return figure;
}

Figure points(const std::vector<std::pair<double, double>>& places) {
  Figure figure{.names_at_points = true};
  auto& panel = figure.panels.emplace_back();
  panel.x.label = "train/step_time (ms)";
  panel.y.label = "test/accuracy (%)";
  for (std::size_t i = 0; i < places.size(); ++i)
    panel.series.push_back(
        {"method " + std::to_string(i), i, Shape::kMarkers, {{.x = places[i].first, .y = places[i].second}}});
  return figure;
}

Figure heat(std::size_t rows, std::size_t columns) {
  Figure figure;
  auto& panel = figure.panels.emplace_back();
  panel.x.label = "model.d_model";
  panel.y.label = "train.learning_rate";
  panel.heat.label = "test/accuracy (%)";
  for (std::size_t i = 0; i < columns; ++i) panel.x.names.push_back("a name of column " + std::to_string(i));
  for (std::size_t i = 0; i < rows; ++i) {
    panel.y.names.push_back("row " + std::to_string(i));
    auto& line = panel.heat.values.emplace_back();
    for (std::size_t j = 0; j < columns; ++j) line.push_back(static_cast<double>(i * j));
  }
  return figure;
}

void check_texts(const Drawing& drawing) {
  const Box sheet{-0.5, -0.5, drawing.width + 1, drawing.height + 1};
  for (std::size_t i = 0; i < drawing.texts.size(); ++i) {
    const auto& [text, box] = drawing.texts[i];
    INFO(text);
    CHECK(sheet.holds(box));
    for (std::size_t j = 0; j < i; ++j) {
      INFO(drawing.texts[j].text);
      CHECK_FALSE(box.meets(drawing.texts[j].box));
    }
  }
}

bool shows(const Drawing& drawing, const std::string& part) {
  for (const auto& placed : drawing.texts)
    if (placed.text.find(part) != std::string::npos) return true;
  return false;
}

std::uint32_t number_at(const std::string& bytes, std::size_t place) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes.at(place + i));
  return number;
}

const std::vector<std::string> kHostile = {"<b>&amp;\"'</b>", "größe ≤ ½ µ", "注意力",
                                           "a name that is far too long for any column of any paper, and goes on and on and on",
                                           "x"};

}  // namespace

TEST_CASE("no text overlaps another or leaves the sheet, at any width and with any names and number of panels") {
  for (const double width : {40.0, 84.0, 174.0}) {
    INFO(width);
    check_texts(draw(lines(kHostile), Picture::kSvg, width, "curves"));
    check_texts(draw(lines({"a", "b"}, 5), Picture::kSvg, width, "curves"));
    check_texts(draw(points({{1, 2}, {1.02, 2.01}, {5, 9}, {5.1, 9}, {9, 1}}), Picture::kSvg, width, "front"));
    check_texts(draw(heat(3, 4), Picture::kSvg, width, "heat"));
    check_texts(draw(heat(12, 9), Picture::kSvg, width, "heat"));
  }
}

TEST_CASE("an SVG parses, and has all labels") {
  TemporaryFolder folder;
  const auto file = (folder / "a.svg").string();
  std::ofstream(file) << draw(lines(kHostile), Picture::kSvg, 84, "curves: a <b> & c").file;
  const auto read = Process({"python3", "-c",
                             "import sys, xml.etree.ElementTree as tree\n"
                             "root = tree.parse(sys.argv[1]).getroot()\n"
                             "print(root.get('width'), *(root.findtext('{http://www.w3.org/2000/svg}' + name) for name in "
                             "('title', 'desc')), sep='\\n')",
                             file})
                        .wait();
  INFO(read.err);
  CHECK(read.exit_code == 0);
  CHECK(read.out.starts_with("238.11"));  // 84 mm in points
  for (const auto* label :
       {"curves: a <b> & c", "step", "test/accuracy (%)", "<b>&amp;\"'</b>", "größe ≤ ½ µ", "注意力", "…"}) {
    INFO(label);
    CHECK(read.out.find(label) != std::string::npos);
  }
}

TEST_CASE("an SVG has a white background, so that its ink is visible on a dark screen") {
  const auto file = draw(heat(3, 4), Picture::kSvg, 84, "heat").file;
  CHECK(file.substr(file.find("rgb("), 9) == "rgb(100%,");
}

TEST_CASE("a PNG has the right number of pixels, its resolution, and the name of its program") {
  for (const double width : {84.0, 174.0}) {
    const auto drawing = draw(lines({"a", "b"}), Picture::kPng, width, "curves");
    REQUIRE(drawing.file.starts_with("\x89PNG\r\n\x1a\n"));
    CHECK(number_at(drawing.file, 16) == static_cast<std::uint32_t>(std::lround(width / 25.4 * 300)));
    CHECK(number_at(drawing.file, 20) == static_cast<std::uint32_t>(std::lround(drawing.height / 72 * 300)));
    const auto size = drawing.file.find("pHYs");
    REQUIRE(size != std::string::npos);
    CHECK(number_at(drawing.file, size + 4) == 11811);  // dots a metre
    CHECK(drawing.file.find("Software" + std::string(1, '\0') + "ablate ") != std::string::npos);
  }
}

TEST_CASE("a PDF is valid, and names its program") {
  const auto file = draw(lines({"a"}), Picture::kPdf, 84, "curves").file;
  CHECK(file.starts_with("%PDF-"));
  CHECK(file.find("ablate ") != std::string::npos);
  CHECK(file.find("%%EOF") != std::string::npos);
}

TEST_CASE("points have their names beside them if the names fit, otherwise in a legend") {
  const auto apart = draw(points({{1, 1}, {5, 5}, {9, 9}}), Picture::kSvg, 84, "front");
  const auto crowded = points(std::vector<std::pair<double, double>>(30, {5, 5}));
  const auto legend = draw(crowded, Picture::kSvg, 84, "front");
  for (const auto* name : {"method 0", "method 1", "method 2"}) CHECK(shows(apart, name));
  CHECK(shows(legend, "method 29"));
  CHECK(legend.height > apart.height + 50);
  CHECK(legend.notes.size() == 1);
  CHECK(legend.notes.front().starts_with("30 lines or points in one panel"));
}

TEST_CASE("keys replace the series in the legend, and no note then reports too many series") {
  auto figure = points(std::vector<std::pair<double, double>>(30, {5, 5}));
  for (std::size_t i = 0; i < 5; ++i) figure.keys.push_back({"compression " + std::to_string(i), i, false});
  for (std::size_t i = 0; i < 6; ++i) figure.keys.push_back({"rate 1/" + std::to_string(i), i, true});
  const auto drawing = draw(figure, Picture::kSvg, 84, "front");
  for (const auto* name : {"compression 0", "compression 4", "rate 1/0", "rate 1/5"}) CHECK(shows(drawing, name));
  CHECK_FALSE(shows(drawing, "method 0"));
  CHECK(drawing.notes.empty());
  check_texts(drawing);
}

TEST_CASE("a heat map writes its numbers if they fit") {
  CHECK(shows(draw(heat(3, 4), Picture::kSvg, 84, "heat"), "6.0"));
  const auto many = draw(heat(5, 40), Picture::kSvg, 84, "heat");
  CHECK_FALSE(shows(many, "39.0"));
}
