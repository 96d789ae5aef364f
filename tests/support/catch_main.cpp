// Main function of test programs: Catch2's, with a separate exit code for skipped cases.
#define CATCH_CONFIG_RUNNER
#include "tests/support/skip.h"

int main(int argc, char** argv) {
  const int failed = Catch::Session().run(argc, argv);
  if (failed == kSkipped) return 1;  // here it is a number of failed assertions
  return failed == 0 && was_skipped() ? kSkipped : failed;
}
