#include "core/trial/conformance/compression_checks.h"
#include "core/trial/conformance/device_checks.h"
namespace ablate {
void check_compression(const Candidate&, Depth, Checks&) {}
OtherDevice find_cuda() { return {{}, "none"}; }
std::vector<Computed> attention_on(const AttentionSubject&, c10::Device) { return {}; }
void check_device(const std::string& on, const ComputeOn&, const OtherDevice& other, Checks& checks) { checks.leave("cuda", on, other.why_not); }
}
