// A value that is made when it is needed.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <utility>

namespace ablate {

/// Makes its value anew at each get(): many stored values (100,000 documents) would need much memory. Can also store a value.
template <class T>
class Lazy {
 public:
  Lazy(T value) : make_([shared = std::make_shared<const T>(std::move(value))] { return *shared; }) {}
  template <std::invocable Make>
  Lazy(Make make) : make_(std::move(make)) {}

  T get() const { return make_(); }

 private:
  std::function<T()> make_;
};

}  // namespace ablate
