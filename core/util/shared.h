// A value that its copies share, and that nobody changes.
#pragma once

#include <memory>
#include <utility>

namespace ablate {

template <class T>
class Shared {
 public:
  Shared() : Shared(T()) {}
  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  operator const T&() const { return *value_; }
  auto begin() const { return value_->begin(); }
  auto end() const { return value_->end(); }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace ablate
