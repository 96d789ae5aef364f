// NVIDIA's management library on a machine with two GPUs. The second GPU is lost, so it has no name.
#include <cstdio>

namespace {
int devices[2];
}

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "570.86.15");
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &devices[index];
  return 0;
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  if (device == &devices[1]) return 15;  // NVML_ERROR_GPU_IS_LOST
  std::snprintf(text, size, "Test GPU 9000");
  return 0;
}
int nvmlDeviceGetUUID(void*, char* text, unsigned size) {
  std::snprintf(text, size, "GPU-5a1e");
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* bytes) {  // total, free, used
  bytes[0] = 80ULL << 30, bytes[1] = 75ULL << 30, bytes[2] = 5ULL << 30;
  return 0;
}
}
