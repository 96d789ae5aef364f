// Main function of test programs: runs Catch2, and has a separate exit code for skipped cases.
#define CATCH_CONFIG_RUNNER
#include "tests/support/skip.h"

int main(int argc, char** argv) {
  const int failed = Catch::Session().run(argc, argv);
  if (failed == kSkipped) return 1;  // Catch2 returns the number of failed assertions
  return failed == 0 && was_skipped() ? kSkipped : failed;
}
