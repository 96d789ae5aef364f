// Converts structs to JSON objects and back. The fields of a struct are listed once, for reading and writing. Torch-free.
//
// A struct needs a function beside it: fields(visitor, message) { visitor("name", message.name); ... }. A type with a JSON
// form of its own specialises TextOf.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/shared/messages.h"
#include "core/util/one_line.h"

namespace ablate {

/// True if `M` is `Struct` or `const Struct`.
template <class M, class Struct>
concept Is = std::same_as<std::remove_const_t<M>, Struct>;

/// Conversion of a type that has its own functions: to(value), from(json), and `expected` for error messages.
template <class T>
struct TextOf;

template <class T>
concept HasText = requires(const T& value, const nlohmann::json& json) {
  TextOf<T>::to(value);
  TextOf<T>::from(json);
};

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

class FieldWriter {
 public:
  explicit FieldWriter(nlohmann::json& to) : to_(to) {}

  /// Leaves out an empty optional. Writes NaN as null, because JSON has no NaN.
  template <class T>
  void operator()(const char* name, const T& value) {
    if constexpr (kIsOptional<T>) {
      if (value) to_[name] = text_of(*value);
    } else {
      to_[name] = text_of(value);
    }
  }
  /// Writes a number. Its bounds are checked only when it is read.
  void operator()(const char* name, std::int64_t value, std::int64_t, std::int64_t) { to_[name] = value; }

 private:
  template <class T>
  static nlohmann::json text_of(const T& value) {
    if constexpr (HasText<T>) {
      return TextOf<T>::to(value);
    } else if constexpr (std::same_as<T, double>) {
      return std::isnan(value) ? nlohmann::json() : nlohmann::json(value);
    } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string> || std::same_as<T, nlohmann::json>) {
      return value;
    } else if constexpr (kIsVector<T>) {
      auto all = nlohmann::json::array();
      for (const auto& one : value) all.push_back(text_of(one));
      return all;
    } else if constexpr (kIsMap<T>) {
      auto all = nlohmann::json::object();
      for (const auto& [key, one] : value) all[key] = text_of(one);
      return all;
    } else {
      auto all = nlohmann::json::object();
      FieldWriter writer(all);
      fields(writer, value);
      return all;
    }
  }

  nlohmann::json& to_;
};

/// Path of a value in a message. text() is called only for an error, because thousands of messages arrive in a second.
struct FieldPlace {
  const FieldPlace* in = nullptr;
  std::string_view before = {}, name;  ///< `before`: text between `in` and the name
  std::size_t index = 0;               ///< position in a list, if the name is ""

  std::string text() const {
    auto outer = in == nullptr ? std::string() : in->text();
    if (in != nullptr && name.empty()) return outer + "[" + std::to_string(index) + "]";
    return outer.append(before).append(name);
  }
};

class FieldReader {
 public:
  /// @param where names the message, for what() of BadMessage
  FieldReader(const nlohmann::json& from, std::string_view where) : FieldReader(from, FieldPlace{.name = where}) {}

  /// Throws BadMessage if the field is missing or has another type.
  template <class T>
  void operator()(const char* name, T& into) {
    const auto found = from_.find(name);
    const FieldPlace where{&where_, ": ", name};
    if constexpr (kIsOptional<T>) {
      into.reset();
      if (found != from_.end()) read(*found, into.emplace(), where);
    } else {
      if (found == from_.end()) throw BadMessage(where.text() + ": found nothing, expected " + expected<T>());
      read(*found, into, where);
    }
  }
  void operator()(const char* name, std::int64_t& into, std::int64_t least, std::int64_t most) {
    (*this)(name, into);
    if (into < least || into > most)
      refuse({&where_, ": ", name}, into, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }

 private:
  FieldReader(const nlohmann::json& from, const FieldPlace& where) : from_(from), where_(where) {
    if (!from.is_object()) refuse(where_, from, "an object");
  }

  [[noreturn]] static void refuse(const FieldPlace& where, const nlohmann::json& found, const std::string& expected) {
    const auto text = found.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    throw BadMessage(where.text() + ": found " + one_line(text, 80) + ", expected " + expected);
  }

  template <class T>
  static std::string expected() {
    if constexpr (HasText<T>)
      return TextOf<T>::expected;
    else if constexpr (std::same_as<T, bool>)
      return "true or false";
    else if constexpr (std::integral<T>)
      return "a whole number";
    else if constexpr (std::same_as<T, double>)
      return "a number or null";
    else if constexpr (std::same_as<T, std::string>)
      return "a text";
    else if constexpr (kIsVector<T>)
      return "a list";
    else
      return "an object";
  }

  template <class T>
  static void read(const nlohmann::json& value, T& into, const FieldPlace& where) {
    if constexpr (HasText<T>) {
      try {
        into = TextOf<T>::from(value);
      } catch (const std::exception& error) {
        refuse(where, value, expected<T>() + " (" + one_line(error.what()) + ")");
      }
    } else if constexpr (std::same_as<T, bool>) {
      if (!value.is_boolean()) refuse(where, value, expected<T>());
      into = value.get<bool>();
    } else if constexpr (std::integral<T>) {
      // get() would convert 1.5 or 1e300 to an integer.
      if (!value.is_number_integer() || !std::in_range<T>(value.get<std::int64_t>())) refuse(where, value, expected<T>());
      into = value.get<T>();
    } else if constexpr (std::same_as<T, double>) {
      if (!value.is_number() && !value.is_null()) refuse(where, value, expected<T>());
      into = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
    } else if constexpr (std::same_as<T, std::string>) {
      if (!value.is_string()) refuse(where, value, expected<T>());
      into = value.get<std::string>();
    } else if constexpr (std::same_as<T, nlohmann::json>) {
      if (!value.is_object()) refuse(where, value, expected<T>());
      into = value;
    } else if constexpr (kIsVector<T>) {
      if (!value.is_array()) refuse(where, value, expected<T>());
      into.clear();
      for (std::size_t i = 0; i < value.size(); ++i) read(value[i], into.emplace_back(), {&where, {}, {}, i});
    } else if constexpr (kIsMap<T>) {
      if (!value.is_object()) refuse(where, value, expected<T>());
      into.clear();
      for (const auto& [key, one] : value.items()) read(one, into[key], {&where, ".", key});
    } else {
      FieldReader reader(value, where);
      fields(reader, into);
    }
  }

  const nlohmann::json& from_;
  FieldPlace where_;
};

}  // namespace ablate
