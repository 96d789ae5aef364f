// A JSON value that its copies share: of a hundred thousand trials most say the same.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace ablate {

/// An object unless it is made of something else. Who changes one changes no copy of it. Any thread, of one object one at a
/// time.
class SharedJson {
 public:
  SharedJson() : value_(empty_object()) {}
  SharedJson(nlohmann::json value) : value_(std::make_shared<nlohmann::json>(std::move(value))) {}
  SharedJson(nlohmann::json::initializer_list_t values) : SharedJson(nlohmann::json(values)) {}

  const nlohmann::json& operator*() const { return *value_; }
  const nlohmann::json* operator->() const { return value_.get(); }
  const nlohmann::json& at(const std::string& name) const { return value_->at(name); }
  bool contains(const std::string& name) const { return value_->contains(name); }

  /// To change a value of an object.
  nlohmann::json& operator[](const std::string& name) {
    if (value_.use_count() > 1) value_ = std::make_shared<nlohmann::json>(*value_);
    return (*value_)[name];
  }

  bool operator==(const SharedJson& other) const { return value_ == other.value_ || *value_ == *other.value_; }

 private:
  static const std::shared_ptr<nlohmann::json>& empty_object() {
    static const auto empty = std::make_shared<nlohmann::json>(nlohmann::json::object());
    return empty;
  }

  std::shared_ptr<nlohmann::json> value_;
};

}  // namespace ablate
