// A history of step times by sequence length.
#pragma once

#include <nlohmann/json.hpp>

#include "db/questions/tables/make_table.h"
#include "tests/db/fixture.h"

namespace ablate::db {

inline nlohmann::json at_length(const std::string& attention, const std::vector<std::string>& rates, int length,
                                int batch = 1) {
  auto resolved = trial(attention, rates, 1);
  resolved["task"]["length"] = length;
  resolved["train"]["batch"] = batch;
  return resolved;
}

inline Attempt took(const nlohmann::json& resolved, double milliseconds) {
  auto attempt = done(resolved, 50);
  attempt.results["train/step_time"] = milliseconds;
  return attempt;
}

inline TableRequest request(std::vector<std::string> rows, std::vector<std::string> columns) {
  return {{"study"}, std::move(rows), std::move(columns), {"train/step_time"}};
}

/// Times at 100, 200 and 400 tokens: softmax n^2 / 100 ms, adamra n / 10 ms.
struct Costs {
  Folder folder;
  std::filesystem::path file = folder / "a.db";
  std::vector<nlohmann::json> trials;

  explicit Costs(bool published = true) {
    Store store(file);
    for (const int n : {100, 200, 400}) trials.push_back(at_length("softmax", {}, n));
    for (const int n : {100, 200, 400}) trials.push_back(at_length("adamra", {"1/2"}, n));
    const auto id = put(store, "study", trials);
    for (const auto& one : trials) {
      const double n = one["task"]["length"];
      store.put_attempt(took(one, one["attention"]["plugin"] == "softmax" ? n * n / 100 : n / 10));
    }
    std::vector<PublishedValue> values;
    for (const auto& one : trials) {
      const double n = one["task"]["length"];
      const bool softmax = one["attention"]["plugin"] == "softmax";
      if (published) values.push_back({key_of(one), "train/step_time", softmax ? 2 * n : 5, "A paper"});
    }
    store.put_published(id, values);
  }
  Table table(const TableRequest& asked) const { return make_table(Reader(file), asked); }
  std::string error(const TableRequest& asked) const {
    return error_of([&] { table(asked); });
  }
};

}  // namespace ablate::db
