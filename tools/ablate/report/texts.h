// What a report's page is made of, embedded when ablate is built (CMakeLists.txt here).
#pragma once

#include <string_view>

namespace ablate {

extern const std::string_view kPageHtml;    ///< with @NAME@ where a part goes
extern const std::string_view kPageStyle;   ///< CSS
extern const std::string_view kPageScript;  ///< the page's own modules
extern const std::string_view kD3;          ///< "" where node-d3 was not there
extern const std::string_view kD3Licence;   ///< to be shown with it

}  // namespace ablate
