// Parameters as a plugin reads them, over canonical JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "ablate/values.h"

namespace ablate {

/// A resolved section: {"heads": 2, "rates": ["1/2"], ...}. Throws std::logic_error as ablate/values.h says.
class JsonValues final : public Values {
 public:
  explicit JsonValues(nlohmann::json object) : object_(std::move(object)) {}
  bool boolean(const char* name) const override;
  std::int64_t integer(const char* name) const override;
  double real(const char* name) const override;
  std::string text(const char* name) const override;
  Rate rate(const char* name) const override;
  std::vector<Rate> rates(const char* name) const override;
  std::string file(const char* name) const override;
  std::int64_t count(const char* plugins) const override;

  /// The section of a plugin that is a parameter. @param index of a list; 0 for a single one
  const nlohmann::json& section(const char* plugins, std::size_t index) const;

 private:
  const nlohmann::json& get(const char* name) const;

  nlohmann::json object_;
};

}  // namespace ablate
