#include "core/trial/server/loaded.h"

#include <ATen/Context.h>
#include <ATen/ThreadLocalState.h>
#include <c10/core/DefaultDtype.h>
#include <fmt/format.h>

#include "core/registry/plugin_info.h"
#include "core/registry/scan.h"
#include "core/registry/values.h"
#include "core/trial/device/device.h"
#include "core/trial/server/planned_files.h"
#include "core/trial/server/planned_library.h"
#include "core/util/error.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

std::string name_of(Kind kind, const std::string& id) { return fmt::format("{} {}", to_text(kind), id); }

/// Returns the code identity as in PluginInfo::code_identity.
std::string code_of(const Descriptor& descriptor, const std::string& path, const std::map<std::string, std::string>& hashes) {
  if (*descriptor.code_digest != '\0') return descriptor.code_digest;
  const auto planned = hashes.find(path);
  return planned == hashes.end() ? sha256_file(path) : planned->second;
}

}  // namespace

/// torch's settings for the process and for a thread, as they were when this object was made. A library may change them while
/// it is loaded, and each change can alter bits of results or make every trial fail. Use the object only on its own thread.
class TorchState {
 public:
  TorchState();
  void restore() const;

 private:
  at::ThreadLocalState thread_;  ///< gradients, inference mode, autocast, dispatch
  const char* matmul_;           ///< argument of setFloat32MatmulPrecision
  bool onednn_, flash_, memory_efficient_, math_, cudnn_attention_, cudnn_tf32_, cudnn_benchmark_;
};

TorchState::TorchState() {
  const auto& context = at::globalContext();
  switch (context.float32MatmulPrecision()) {
    case at::Float32MatmulPrecision::HIGH:
      matmul_ = "high";
      break;
    case at::Float32MatmulPrecision::MEDIUM:
      matmul_ = "medium";
      break;
    default:
      matmul_ = "highest";
  }
  onednn_ = context.userEnabledMkldnn();
  flash_ = context.userEnabledFlashSDP(), memory_efficient_ = context.userEnabledMemEfficientSDP();
  math_ = context.userEnabledMathSDP(), cudnn_attention_ = context.userEnabledCuDNNSDP();
  cudnn_tf32_ = context.allowTF32CuDNN(), cudnn_benchmark_ = context.benchmarkCuDNN();
}

void TorchState::restore() const {
  at::ThreadLocalState::setThreadLocalState(thread_);
  c10::set_default_dtype(caffe2::TypeMeta::Make<float>());
  auto& context = at::globalContext();
  context.setFloat32MatmulPrecision(matmul_);
  context.setUserEnabledMkldnn(onednn_);
  context.setSDPUseFlash(flash_);
  context.setSDPUseMemEfficient(memory_efficient_);
  context.setSDPUseMath(math_);
  context.setSDPUseCuDNN(cudnn_attention_);
  context.setAllowTF32CuDNN(cudnn_tf32_);
  context.setBenchmarkCuDNN(cudnn_benchmark_);
}

LoadedParts::LoadedParts(const ProcessState& state) : state_(state), torch_(std::make_unique<TorchState>()) {}

LoadedParts::~LoadedParts() = default;

void LoadedParts::load(const Libraries& libraries) {
  for (const auto& path : libraries.paths) {
    const auto& descriptor = load_as_planned(path, libraries.hashes, [this] { restore(); });
    plugins_[name_of(descriptor.kind, descriptor.id)] = &descriptor;
    if (descriptor.kind == Kind::kTask) codes_[descriptor.id] = code_of(descriptor, path, libraries.hashes);
  }
}

void LoadedParts::load(const LoadCommand& what) {
  load(what.libraries);
  if (what.cuda) load_cuda();
  for (const auto& task : what.tasks) {
    try {
      load_task(task);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& refusal) {  // an Error, because a user can remove the cause
      throw Error(refusal.what());
    }
    restore();
  }
}

void LoadedParts::restore() const {
  state_.restore();
  torch_->restore();
}

const Descriptor& LoadedParts::plugin(Kind kind, const std::string& id) const {
  const auto found = plugins_.find(name_of(kind, id));
  if (found == plugins_.end())
    throw Error(fmt::format("{} was not loaded in this worker", name_of(kind, id)), ExitCode::kPlugin);
  return *found->second;
}

std::unique_ptr<Task> LoadedParts::make_task(const PluginSpec& section, int threads) {
  const auto& descriptor = plugin(Kind::kTask, section.id);
  const JsonValues values(section, describe(descriptor));
  if (cache_folder().empty()) throw Error(std::string("no folder for its data: ") + kNoCache);
  // If a library with other code and the same id is loaded later, it gets another folder.
  const auto& code = codes_.at(descriptor.id);
  const auto& cache =
      caches_.try_emplace(descriptor.id + ' ' + code, cache_folder() / "tasks" / descriptor.id, code).first->second;
  auto made = descriptor.make_task({values, cache.path(), threads});
  if (!made) throw Error(fmt::format("task {}: its factory returned nothing", descriptor.id), ExitCode::kPlugin);
  return made;
}

void LoadedParts::load_task(const LoadCommand::Data& planned) {
  const auto& [section, digest, planned_files] = planned;
  if (loaded(section) != nullptr) return;
  const PlannedFiles files(planned_files);
  auto made = make_task(section, 1);
  made->info();
  made->load();
  files.check();
  if (const auto found = made->digest(); found != digest)
    throw Error(
        fmt::format("task {}: its data changed after the study was planned (their digest is {}, and was {}): run the "
                    "command again for the new data",
                    section.id, short_digest(found), short_digest(digest)));
  tasks_.emplace_back(section, std::move(made));
}

Task* LoadedParts::loaded(const PluginSpec& section) const {
  const auto found = std::ranges::find(tasks_, section, [](const auto& known) -> const PluginSpec& { return known.first; });
  return found == tasks_.end() ? nullptr : found->second.get();
}

Task& LoadedParts::task(const PluginSpec& section) const {
  auto* const found = loaded(section);
  if (found == nullptr) throw std::logic_error("a trial whose task was not loaded");
  return *found;
}

}  // namespace ablate
