// Text in HTML, SVG and XML.
#pragma once

#include <string>
#include <string_view>

namespace ablate {

/// Escapes characters that a browser would read as markup. `quotes` are additional quotes (" or ') to escape.
inline std::string markup_escaped(std::string_view text, std::string_view quotes = "") {
  std::string safe;
  for (const char c : text)
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (quotes.find(c) != std::string_view::npos)
      safe += c == '"' ? "&quot;" : "&#39;";
    else
      safe += c;
  return safe;
}

}  // namespace ablate
