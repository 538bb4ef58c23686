/* The pointer chase of the catalogue's source: nodes of 16 bytes in random order on huge pages, so that each line is
   visited four times in a cycle. Arguments: SIZE_BYTES SECONDS. Prints the median seconds per load. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { HUGE_PAGE = 2 << 20, SAMPLES = 1000, LOADS = 1 << 16 };

struct node {
  uint64_t payload;
  struct node* next;
};

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t draw(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static int ascending(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Links the nodes in one cycle of random order (Sattolo's algorithm). */
static void link_nodes(struct node* nodes, size_t count) {
  uint64_t state = 88172645463325252U;
  for (size_t i = 0; i < count; ++i) nodes[i].next = &nodes[nodes[i].payload = i];
  for (size_t i = count - 1; i > 0; --i) {
    size_t other = draw(&state) % i;
    struct node* swapped = nodes[i].next;
    nodes[i].next = nodes[other].next;
    nodes[other].next = swapped;
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  size_t size = strtoull(argv[1], NULL, 10), nodes_count = size / sizeof(struct node);
  double seconds = atof(argv[2]);
  char* raw = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return 1;
  struct node* nodes = (struct node*)(((uintptr_t)raw + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
  madvise(nodes, size, MADV_HUGEPAGE);
  link_nodes(nodes, nodes_count);
  static double sample_s[SAMPLES];
  int samples = 0;
  uint64_t sum = 0;
  const struct node* at = nodes;
  for (double end = now_s() + seconds; now_s() < end && samples < SAMPLES;) {
    double start = now_s();
    for (uint64_t i = 0; i < LOADS; ++i) {
      sum += at->payload;
      at = at->next;
    }
    sample_s[samples++] = (now_s() - start) / LOADS;
  }
  qsort(sample_s, (size_t)samples, sizeof *sample_s, ascending);
  printf("%.12g\n", sample_s[samples / 2]);
  return sum == 1;
}
