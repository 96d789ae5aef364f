#include "tools/plot/svg_texts.h"

namespace ablate {
namespace {

std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '&')
      all += "&amp;";
    else if (c == '<')
      all += "&lt;";
    else if (c == '>')
      all += "&gt;";
    else
      all += c;
  }
  return all;
}

}  // namespace

std::string with_texts(const std::string& svg, const std::string& title, const std::vector<PlacedText>& texts) {
  const auto begin = svg.find("<svg");
  const auto end = svg.find('>', begin);
  if (begin == std::string::npos || end == std::string::npos) return svg;
  auto more = "\n<!-- written by ablate " ABLATE_VERSION " -->\n<title>" + escaped(title) + "</title>\n<desc>";
  for (const auto& [text, box] : texts) more += escaped(text) + "\n";
  return svg.substr(0, end + 1) + more + "</desc>" + svg.substr(end + 1);
}

}  // namespace ablate
