#include "tools/plot/draw.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "db/history/reader.h"
#include "db/report/format.h"
#include "tools/ablate/streams.h"
#include "tools/plot/panel.h"

namespace ablate {
namespace {

constexpr double kSample = 20, kBehindSample = 4, kApart = 10;
constexpr double kLineStep = kSmallSize * 1.45;

/// Names of the series, below the panels, in as many columns as fit.
class Legend {
 public:
  /// Shows the figure's keys. If the figure has none, shows each named style and marker once, in order. `width` is in points.
  Legend(const db::Figure& figure, double width, Fonts& fonts) {
    if (figure.keys.empty())
      add_series(figure);
    else
      add_keys(figure);
    double widest = 0;
    for (auto& entry : entries_) {
      entry.name =
          fonts.cut(entry.name, kSmallSize, width - kSample - kBehindSample - fonts.width(entry.tail, kSmallSize)) + entry.tail;
      widest = std::max(widest, fonts.width(entry.name, kSmallSize));
    }
    column_ = kSample + kBehindSample + widest + kApart;
    columns_ = std::clamp<std::size_t>(static_cast<std::size_t>((width + kApart) / column_), 1,
                                       std::max<std::size_t>(entries_.size(), 1));
  }

  double height() const {
    const auto rows = (entries_.size() + columns_ - 1) / columns_;
    return static_cast<double>(rows) * kLineStep;
  }
  void draw(Canvas& canvas, const Place& at) const {
    const auto rows = (entries_.size() + columns_ - 1) / columns_;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto& entry = entries_[i];
      auto style = series_style(entry.style, entry.mark);
      if (entry.of_any_colour) style.colour = kGrey;
      const auto column = i / rows, row = i % rows;
      const Place middle{at.x + static_cast<double>(column) * column_ + kSample / 2,
                         at.y + (static_cast<double>(row) + 0.5) * kLineStep};
      const Place ends[] = {{middle.x - kSample / 2, middle.y}, {middle.x + kSample / 2, middle.y}};
      if (entry.shape != db::FigureSeries::Shape::kMarkers) canvas.line(ends, {style.colour, kLine, style.dash});
      if (entry.shape != db::FigureSeries::Shape::kLine) draw_marker(canvas, middle, style, false);
      canvas.text({middle.x + kSample / 2 + kBehindSample, middle.y}, entry.name, {.size = kSmallSize});
    }
  }

 private:
  struct Entry {
    std::size_t style = 0, mark = 0;
    db::FigureSeries::Shape shape = db::FigureSeries::Shape::kMarkers;
    std::string name, tail;      ///< after cutting, `name` ends with `tail`
    bool of_any_colour = false;  ///< true if `name` is for a marker, which series of any colour have
  };
  void add_keys(const db::Figure& figure) {
    for (const auto& key : figure.keys) {
      auto& entry = entries_.emplace_back();
      (key.is_mark ? entry.mark : entry.style) = key.number;
      entry.of_any_colour = key.is_mark;
      entry.name = key.name;
    }
  }
  void add_series(const db::Figure& figure) {
    for (const auto& panel : figure.panels)
      for (const auto& series : panel.series) {
        const auto is_it = [&](const Entry& entry) {
          return entry.style == series.style && entry.mark == series.mark && entry.name == series.name &&
                 entry.tail == series.tail;
        };
        if (!series.name.empty() && std::none_of(entries_.begin(), entries_.end(), is_it))
          entries_.push_back({series.style, series.mark, series.shape, series.name, series.tail});
      }
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const auto& a, const auto& b) { return std::pair(a.style, a.mark) < std::pair(b.style, b.mark); });
  }

  std::vector<Entry> entries_;
  std::size_t columns_ = 1;
  double column_ = 0;  ///< width of a column
};

constexpr double kEdge = 2;                         ///< margin of the sheet, in points
constexpr double kBetween = 8;                      ///< gap between panels, legend and caption
constexpr double kLeastPanel = 130;                 ///< least width of panels that are side by side
constexpr std::size_t kMostBeside = 4;              ///< panels side by side
constexpr double kShape = 0.62;                     ///< height of axes divided by their width
constexpr double kHighest = 220;                    ///< largest height of axes
constexpr double kLeastCell = 12, kUsualCell = 22;  ///< height of a row with a name
constexpr double kNamesShare = 0.35;                ///< share of a panel's width for row names
constexpr std::size_t kManyLines = 12;
constexpr double kCaptionSize = 6.5;

/// Splits a text into lines.
std::vector<std::string> wrapped(const std::string& text, double width, Fonts& fonts) {
  std::istringstream words(text);
  std::vector<std::string> lines;
  for (std::string word; words >> word;) {
    word = fonts.cut(word, kCaptionSize, width);
    if (!lines.empty() && fonts.width(lines.back() + " " + word, kCaptionSize) <= width)
      lines.back() += " " + word;
    else
      lines.push_back(word);
  }
  return lines;
}

/// Layout of a sheet, in points.
struct Plan {
  std::size_t beside = 1;
  Margins margins;  ///< the largest of all panels, at each side
  double axes_width = 0, longest = 0;
  std::vector<double> axes_height;  ///< by row of panels
  double height = 0;                ///< height of all panels together
};

double height_of(const Panel& panel, double width) {
  const auto names = static_cast<double>(panel.data().y.names.size());
  if (names == 0) return std::min(width * kShape, kHighest);
  const double usual = panel.is_heat()
                           ? std::min(kUsualCell, width / std::max(static_cast<double>(panel.data().x.names.size()), 1.0))
                           : kLeastCell;
  return std::max(kLeastCell, usual) * names;
}

Plan plan_of(std::vector<Panel>& panels, double width) {
  Plan plan;
  plan.beside = std::clamp<std::size_t>(static_cast<std::size_t>(width / kLeastPanel), 1, std::min(kMostBeside, panels.size()));
  if (width < 2.3 * kLeastPanel) plan.beside = 1;
  const auto beside = static_cast<double>(plan.beside);
  const double each = (width - kBetween * (beside - 1)) / beside;
  plan.longest = each * kNamesShare;
  plan.axes_width = each * 0.8;
  // The number of ticks depends on the size of the axes, and the size on the ticks. Two passes are enough.
  for (int pass = 0; pass < 2; ++pass) {
    plan.margins = {};
    for (auto& panel : panels) {
      const auto need = panel.margins(plan.axes_width, height_of(panel, plan.axes_width), plan.longest);
      plan.margins = {std::max(plan.margins.left, need.left), std::max(plan.margins.right, need.right),
                      std::max(plan.margins.above, need.above), std::max(plan.margins.below, need.below)};
    }
    plan.axes_width = each - plan.margins.left - plan.margins.right;
  }
  for (std::size_t i = 0; i < panels.size(); i += plan.beside) {
    double highest = 0;
    for (auto j = i; j < std::min(i + plan.beside, panels.size()); ++j)
      highest = std::max(highest, height_of(panels[j], plan.axes_width));
    plan.axes_height.push_back(highest);
    plan.height += highest + plan.margins.above + plan.margins.below + (i > 0 ? kBetween : 0);
  }
  return plan;
}

/// Returns the box of each panel's axes.
std::vector<Box> boxes_of(const Plan& plan, std::size_t panels) {
  std::vector<Box> boxes;
  double top = kEdge;
  for (std::size_t i = 0; i < panels; ++i) {
    const auto row = i / plan.beside, column = i % plan.beside;
    if (i > 0 && column == 0) top += plan.margins.above + plan.axes_height[row - 1] + plan.margins.below + kBetween;
    const double step = plan.margins.left + plan.axes_width + plan.margins.right + kBetween;
    boxes.push_back({kEdge + static_cast<double>(column) * step + plan.margins.left, top + plan.margins.above, plan.axes_width,
                     plan.axes_height[row]});
  }
  return boxes;
}

std::size_t named_series(const db::Figure& figure) {
  std::size_t most = 0;
  for (const auto& panel : figure.panels)
    most = std::max(most, static_cast<std::size_t>(std::count_if(panel.series.begin(), panel.series.end(),
                                                                 [](const auto& series) { return !series.name.empty(); })));
  return most;
}

}  // namespace

Drawing draw(const db::Figure& figure, Picture picture, double width_mm, const std::string& title) {
  Drawing drawing{.width = width_mm * kPointsPerMm};
  Fonts fonts;
  std::vector<Panel> panels;
  for (const auto& panel : figure.panels) panels.emplace_back(panel, fonts);
  const double inner = drawing.width - 2 * kEdge;
  const auto plan = plan_of(panels, inner);
  const auto boxes = boxes_of(plan, panels.size());
  bool at_points = figure.names_at_points;
  for (std::size_t i = 0; i < panels.size(); ++i) at_points = at_points && panels[i].names_fit(boxes[i]);
  const auto series = named_series(figure);
  if (series > kManyLines && figure.keys.empty())
    drawing.notes.push_back(
        fmt::format("{} lines or points in one panel are hard to distinguish; --where or --rows shows fewer", series));
  const Legend legend(figure, inner, fonts);
  const bool has_legend = !at_points && series > 0;
  const auto caption = wrapped(figure.caption, inner, fonts);
  const double legend_height = has_legend ? kBetween / 2 + legend.height() : 0;
  const double caption_height =
      caption.empty() ? 0 : kBetween / 2 + static_cast<double>(caption.size()) * kCaptionSize * kLineHeight;
  drawing.height = 2 * kEdge + plan.height + legend_height + caption_height;
  Canvas canvas(picture, drawing.width, drawing.height, title, fonts);
  for (std::size_t i = 0; i < panels.size(); ++i) panels[i].draw(canvas, boxes[i], at_points, plan.longest);
  double top = kEdge + plan.height;
  if (has_legend) legend.draw(canvas, {kEdge, top + kBetween / 2});
  top += legend_height + kBetween / 2;
  for (const auto& line : caption) {
    canvas.text({kEdge, top + kCaptionSize * kLineHeight / 2}, line, {.size = kCaptionSize, .colour = kGrey});
    top += kCaptionSize * kLineHeight;
  }
  drawing.texts = canvas.texts();
  drawing.file = canvas.bytes();
  if (!fonts.without_glyphs().empty())
    drawing.notes.push_back("no font here has all characters of: " +
                            db::some_of({fonts.without_glyphs().begin(), fonts.without_glyphs().end()}));
  return drawing;
}

void plot(const PlotArguments& options, const DatabaseFile& database) {
  const db::Reader reader(database());
  const auto& experiments = options.request.table.experiments;
  if (experiments.empty()) refuse_several(reader, "name one, or several to compare");
  const auto figure = db::make_figure(reader, *options.kind, options.request);
  auto notes = figure.notes;
  const auto names = experiments.empty() ? reader.experiments() : experiments;
  const auto title = db::one_row(fmt::format("{}: {}", options.kind->name, fmt::join(names, ", ")));
  const auto drawing = draw(figure, options.picture, options.width_mm, title);
  options.out.put_bytes([&](const db::Write& write) { write(drawing.file); });
  notes.insert(notes.end(), drawing.notes.begin(), drawing.notes.end());
  for (const auto& note : notes) say("note: {}\n", db::one_row(note));
  say("note: in the figure: {}\n", figure.caption);
  warn_of_left_out(reader);
}

}  // namespace ablate
