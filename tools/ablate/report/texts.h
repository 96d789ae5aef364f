// Texts of a report's page, embedded when ablate is built (CMakeLists.txt here).
#pragma once

#include <string_view>

namespace ablate {

extern const std::string_view kPageHtml;    ///< with @NAME@ in place of each part
extern const std::string_view kPageStyle;   ///< CSS
extern const std::string_view kPageScript;  ///< the page's own modules
extern const std::string_view kD3;          ///< "" if node-d3 was missing
extern const std::string_view kD3Licence;   ///< D3's licence, which each page must show

}  // namespace ablate
