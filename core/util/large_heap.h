// Memory for one large answer in pages of 2 MiB: what is asked of a million trials is touched once, and the kernel takes longer
// to find its 4 KiB pages one by one than ablate to fill them.
#pragma once

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace ablate {

/// Grows the heap by so many bytes, of which none is used before somebody allocates it, and asks the kernel for large pages
/// there. From now on the process gives back what lies above a GiB alone. Where there is another malloc than glibc's, or no
/// such page, nothing changes.
inline void prepare_large_heap(std::size_t bytes) {
#ifdef __GLIBC__
  constexpr std::uintptr_t kPage = 2 << 20;
  constexpr int kNever = 0, kMost = 1 << 30;
  const auto end = [] { return static_cast<char*>(sbrk(0)); };
  mallopt(M_MMAP_MAX, kNever);  // large blocks lie in the heap, too
  mallopt(M_TRIM_THRESHOLD, kMost);
  char* first = end();
  first += (kPage - reinterpret_cast<std::uintptr_t>(first) % kPage) % kPage;
  void* volatile block = malloc(bytes);  // volatile: a compiler leaves out what is only given back
  const auto size = end() - first;
  free(block);
  if (size > 0) madvise(first, static_cast<std::size_t>(size), MADV_HUGEPAGE);
#endif
}

}  // namespace ablate
