// What `ablate plot` is asked for: read by ablate, which refuses what is wrong, and by ablate-plot, which draws.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "db/questions/figures/figures.h"
#include "tools/ablate/questions/output_file.h"

namespace ablate {

enum class Picture { kSvg, kPdf, kPng };

struct PlotArguments {
  const db::FigureKind* kind = nullptr;
  db::FigureRequest request;
  double width_mm = 0;
  OutputFile out;
  Picture picture = Picture::kSvg;  ///< by the ending of out.path
};

/// Adds the command. @param run is called with what was asked
void add_plot(CLI::App& app, const std::function<void(const PlotArguments& asked)>& run);

}  // namespace ablate
