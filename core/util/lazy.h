// A value that is made when somebody asks for it.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <utility>

namespace ablate {

/// Made anew each time: a hundred thousand documents at once would be much. One that is there already stands for itself.
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
