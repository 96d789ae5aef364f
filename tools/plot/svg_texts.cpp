#include "tools/plot/svg_texts.h"

#include "core/util/markup.h"

namespace ablate {

std::string with_texts(const std::string& svg, const std::string& title, const std::vector<PlacedText>& texts) {
  const auto begin = svg.find("<svg");
  const auto end = svg.find('>', begin);
  if (begin == std::string::npos || end == std::string::npos) return svg;
  auto more = "\n<!-- written by ablate " ABLATE_VERSION " -->\n<title>" + markup_escaped(title) + "</title>\n<desc>";
  for (const auto& [text, box] : texts) more += markup_escaped(text) + "\n";
  return svg.substr(0, end + 1) + more + "</desc>" + svg.substr(end + 1);
}

}  // namespace ablate
