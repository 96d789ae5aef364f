// The command that makes a page of the run history, and that page: one HTML file that needs no other and no network.
// Torch-free.
#pragma once

#include <string>
#include <string_view>

#include "tools/ablate/questions/questions.h"

namespace ablate {

/// As add_questions.
void add_report(CLI::App& app, const DatabaseFile& database, int& exit_code);

/// The texts that a page is made of: those of texts.h.
struct PageTexts {
  std::string_view html, style, script, d3, licence;
};

/// The program's own texts.
PageTexts page_texts();

/// Throws Error, which names the package, where the texts have no D3: what a program was built without.
void expect_d3(const PageTexts& texts);

/// The page. Its content policy allows the scripts and the style that it is made of by their hashes, and nothing else: no
/// network, no other script.
/// @param title any text, as the file's name for its reader @param data JSON, which is deflated; script reads it
std::string make_page(const PageTexts& texts, const std::string& title, const std::string& data);

}  // namespace ablate
