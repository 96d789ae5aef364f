#include "core/host/client/executors.h"

#include "core/util/stop_on_signal.h"

namespace ablate {

Executor& Executors::need(const Note& note) {
  if (!now_) now_ = start_(note);
  if (!now_) throw Interrupted();
  return *now_;
}

Executor* Executors::replace(const Note& note) {
  end();
  now_ = start_(note);
  return now_.get();
}

}  // namespace ablate
