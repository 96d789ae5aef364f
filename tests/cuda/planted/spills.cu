// A kernel with two faults that tests/cuda/build.py must find: it keeps more numbers than 32 registers can store, and it uses
// one float of shared memory more than kSharedBytes.
constexpr int kSharedBytes = 4096;
static_assert(kSharedBytes <= 48 << 10, "the shared memory of a block on every device");

__global__ void __launch_bounds__(1024, 2) spills(float* x) {
  __shared__ float shared[1025];
  float own[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) own[i] = x[i * 1024 + threadIdx.x];
  shared[threadIdx.x] = own[0];
  if (threadIdx.x == 0) shared[1024] = 1;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 64; ++i) x[i * 1024 + threadIdx.x] = own[63 - i] * own[i] + shared[(threadIdx.x + i) % 1025];
}
