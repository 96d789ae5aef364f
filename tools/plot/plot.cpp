#include "tools/plot/plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "db/history/reader.h"
#include "db/report/format.h"
#include "tools/ablate/streams.h"
#include "tools/plot/draw.h"

namespace ablate {

void plot(const PlotArguments& asked, const DatabaseFile& database) {
  const db::Reader reader(database());
  const auto& experiments = asked.request.table.experiments;
  if (experiments.empty()) refuse_several(reader, "name one, or several to compare");
  const auto figure = db::make_figure(reader, *asked.kind, asked.request);
  auto notes = figure.notes;
  const auto names = experiments.empty() ? reader.experiments() : experiments;
  const auto title = db::one_row(fmt::format("{}: {}", asked.kind->name, fmt::join(names, ", ")));
  const auto drawing = draw(figure, asked.picture, asked.width_mm, title);
  asked.out.put_bytes([&](const db::Write& write) { write(drawing.file); });
  notes.insert(notes.end(), drawing.notes.begin(), drawing.notes.end());
  for (const auto& note : notes) say("note: {}\n", db::one_row(note));
  say("note: in the figure: {}\n", figure.caption);
  warn_of_left_out(reader);
}

}  // namespace ablate
