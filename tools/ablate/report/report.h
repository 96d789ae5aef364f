// The command that writes a page of the run history: one HTML file that needs no other file and no network. Torch-free.
#pragma once

#include <string>
#include <string_view>

#include "tools/ablate/questions/questions.h"

namespace ablate {

/// See add_questions.
void add_report(CLI::App& app, const DatabaseFile& database, int& exit_code);

/// Texts that a page is made of (texts.h).
struct PageTexts {
  std::string_view html, style, script, d3, licence;
};

/// Returns the program's own texts.
PageTexts page_texts();

/// Throws Error with the name of the package if the program was built without D3.
void expect_d3(const PageTexts& texts);

/// Returns the page. Its content policy allows only its own scripts and style, by their hashes: no network and no other script.
/// @param title any text; it is escaped
/// @param data JSON for the script; it is deflated
std::string make_page(const PageTexts& texts, const std::string& title, const std::string& data);

}  // namespace ablate
