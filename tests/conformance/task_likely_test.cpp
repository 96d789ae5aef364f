// What many failed checks of a task have in common: shown by trying, and left out where nothing was shown.
#include <atomic>
#include <cstdlib>

#include "tests/conformance/task_recipe.h"

using namespace ablate;

namespace {

/// What a quick suite concludes of digits that are shifted at each read. @param failed how many checks do
std::string concluded(const std::function<std::int64_t()>& shift, std::size_t& failed) {
  tests::Recipe recipe;
  recipe.fill = [&](tests::Row& row, Split, std::int64_t, tests::Random random) {
    for (std::size_t at = 0; at < row.length(); ++at) row.id(at) = (random.below(10) + shift()) % 10;
    row.target() = random.below(2);
  };
  tests::cooked = &recipe;
  auto plugin = detail::describe(
      Kind::kTask, About{.id = "cooked", .version = "1.0.0", .summary = "of a test", .parameters = tests::kSeedParameter});
  plugin.make_task = [](const TaskContext& context) -> std::unique_ptr<Task> {
    return std::make_unique<tests::Cooked>(*tests::cooked, context);
  };
  const ::TemporaryFolder scratch;
  Checks checks;
  check_task(make_candidate(plugin, nlohmann::json::object(), find_among({&plugin})), scratch.path(), true, checks);
  UNSCOPED_INFO(tests::failed(checks.all()));
  failed = 0;
  for (const auto& check : checks.all()) failed += check.failed() ? 1 : 0;
  return checks.likely();
}

}  // namespace

TEST_CASE("the likely cause of a task's failed checks is found by trying", "[conformance]") {
  std::size_t failed = 0;
  CHECK(concluded([] { return 0; }, failed).empty());
  CHECK(failed == 0);
  tests::check_mentions(concluded([] { return std::rand() % 10; }, failed), "it draws from rand()");  // NOLINT: what is tried
  CHECK(failed >= 5);
  std::atomic<std::int64_t> calls = 0;  // read by several threads
  const auto of_call = [&] {
    const auto call = ++calls;
    return call * call / 7;  // no period: a split's reads may come to a multiple of any
  };
  tests::check_mentions(concluded(of_call, failed), "in a static variable");
  CHECK(failed >= 5);
}
