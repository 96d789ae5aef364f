// What checks are called: what --only may ask for, and an exemption may name.
#pragma once

#include <string>
#include <vector>

namespace ablate {

// Of the tables (attention_checks.cpp, compression_checks.cpp, task_checks.cpp).
std::vector<std::string> attention_check_names();
std::vector<std::string> compression_check_names();
std::vector<std::string> task_check_names();

/// Every name that a check of any kind of plugin can have (suite.cpp).
std::vector<std::string> check_names();

}  // namespace ablate
