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

 private:
  const nlohmann::json& get(const char* name) const;

  nlohmann::json object_;
};

}  // namespace ablate
