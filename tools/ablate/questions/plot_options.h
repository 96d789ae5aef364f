// Arguments of `ablate plot`, parsed by ablate, which reports errors, and by ablate-plot, which draws.
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
  Picture picture = Picture::kSvg;  ///< chosen by the extension of out.path
};

/// Adds the command.
/// @param run receives the parsed arguments
void add_plot(CLI::App& app, const std::function<void(const PlotArguments& asked)>& run);

}  // namespace ablate
