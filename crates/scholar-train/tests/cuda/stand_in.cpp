// A driver and a compiler of CUDA that compute on the CPU, for machines without a GPU.
//
// Built as libcuda.so.1 and as libnvrtc.so. The compiler hands the CUDA C++ that it is given to g++ behind a few lines that give
// its words a meaning; the driver runs a cube's units as coroutines that meet at __syncthreads. It shows what the kernels
// compute, not how fast, and not that a real compiler takes them.

#include <setjmp.h>
#include <ucontext.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))

// ---- the compiler

static const char *PRELUDE = R"(
#include <cmath>
#include <cstdint>
#include <algorithm>
#include <utility>
using std::min; using std::max; using std::abs; using std::sqrt; using std::exp; using std::tanh;
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __restrict__
typedef unsigned int uint; typedef unsigned char uint8; typedef unsigned short uint16; typedef unsigned int uint32;
typedef unsigned long long uint64; typedef signed char int8; typedef short int16; typedef int int32; typedef long long int64;
struct dim3 { unsigned x, y, z; };
typedef dim3 uint3;
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
extern "C" { dim3 threadIdx, blockIdx, blockDim, gridDim; void (*stand_in_wait)(); char *stand_in_shared; }
static inline void __syncthreads() { stand_in_wait(); }
template <class... A, size_t... I> static void stand_in_call(void (*f)(A...), void **p, std::index_sequence<I...>) {
  f(*static_cast<std::remove_cv_t<A> *>(p[I])...);
}
template <class... A> static void stand_in_call(void (*f)(A...), void **p) { stand_in_call(f, p, std::index_sequence_for<A...>{}); }
)";

struct Program { std::string source, name, file, log; };

API int nvrtcCreateProgram(Program **out, const char *source, const char *, int, const char *const *, const char *const *) {
  *out = new Program{source, "", "", ""};
  return 0;
}
API int nvrtcDestroyProgram(Program **program) { delete *program; *program = nullptr; return 0; }

static std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

API int nvrtcCompileProgram(Program *program, int, const char *const *) {
  static int count = 0;
  const char *folder = std::getenv("TMPDIR");
  std::string base = std::string(folder ? folder : "/tmp") + "/stand_in_" + std::to_string(getpid()) + "_" + std::to_string(count++);
  if (const char *kept = std::getenv("STAND_IN_SOURCES"))
    std::ofstream(std::string(kept) + "/" + std::to_string(std::hash<std::string>{}(program->source)) + ".cu") << program->source;
  std::string source = replaced(program->source, "#include <cuda_runtime.h>", "");
  // Shared memory is declared without a size.
  for (size_t at = 0; (at = source.find("extern __shared__", at)) != std::string::npos;) {
    size_t end = source.find(';', at), name_end = source.rfind('[', end), name = source.find_last_of(" \n", name_end) + 1;
    std::string line = "uint8 *" + source.substr(name, name_end - name) + " = (uint8 *)stand_in_shared";
    source.replace(at, end - at, line);
  }
  size_t at = source.rfind("__global__"), open = source.find('(', at);
  // The name is the last word before the parameters; bounds of launches have parentheses of their own.
  size_t bounds = source.find("__launch_bounds__", at);
  if (bounds != std::string::npos && bounds < open) open = source.find('(', source.find(')', bounds));
  size_t end = source.find_last_not_of(" \n", open - 1), begin = source.find_last_of(" \n", end) + 1;
  program->name = source.substr(begin, end - begin + 1);
  std::ofstream(base + ".cpp") << PRELUDE << source << "\nextern \"C\" int stand_in_meets = " << (source.find("__syncthreads") != std::string::npos)
                               << ";\nextern \"C\" void stand_in_enter(void **p) { stand_in_call(&"
                               << program->name << ", p); }\n";
  std::string command = "g++ -std=c++20 -O2 -w -shared -fPIC -Wl,-Bsymbolic -o " + base + ".so " + base + ".cpp 2> " + base + ".log";
  int code = std::system(command.c_str());
  std::ifstream log(base + ".log");
  program->log.assign(std::istreambuf_iterator<char>(log), {});
  program->file = base + ".so";
  return code == 0 ? 0 : 6;
}
API int nvrtcGetProgramLogSize(Program *program, size_t *size) { *size = program->log.size() + 1; return 0; }
API int nvrtcGetProgramLog(Program *program, char *out) { std::strcpy(out, program->log.c_str()); return 0; }
API int nvrtcGetPTXSize(Program *program, size_t *size) { *size = program->file.size() + 1; return 0; }
API int nvrtcGetPTX(Program *program, char *out) { std::strcpy(out, program->file.c_str()); return 0; }
API const char *nvrtcGetErrorString(int) { return "compilation failed"; }
API int nvrtcVersion(int *major, int *minor) { *major = 12; *minor = 8; return 0; }

// ---- the driver

typedef unsigned long long Address;

API int cuInit(unsigned) { return 0; }
API int cuDriverGetVersion(int *v) { *v = 12080; return 0; }
API int cuDeviceGetCount(int *n) { *n = 1; return 0; }
API int cuDeviceGet(int *device, int at) { *device = at; return 0; }
API int cuDeviceGetName(char *out, int len, int) { std::snprintf(out, len, "stand-in"); return 0; }
API int cuDeviceTotalMem_v2(size_t *bytes, int) { *bytes = 4ull << 30; return 0; }
API int cuMemGetInfo_v2(size_t *free, size_t *all) { *free = *all = 4ull << 30; return 0; }
API int cuDeviceGetAttribute(int *value, int attribute, int) {
  switch (attribute) {
    case 1: *value = 1024; break;                                      // threads of a block
    case 2: case 3: *value = 1024; break;                              // a block's sides
    case 4: *value = 64; break;
    case 5: *value = 2147483647; break;                                // a grid's sides
    case 6: case 7: *value = 65535; break;
    case 8: *value = 49152; break;                                     // shared memory
    case 97: *value = 101376; break;
    case 10: *value = 32; break;                                       // a warp
    case 75: *value = 8; break;                                        // compute capability 8.0
    case 76: *value = 0; break;
    case 115: *value = 1; break;                                       // memory pools
    default: *value = 1;
  }
  return 0;
}
static int dummy;
API int cuDevicePrimaryCtxRetain(void **out, int) { *out = &dummy; return 0; }
API int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
API int cuCtxSetCurrent(void *) { return 0; }
API int cuCtxGetCurrent(void **out) { *out = &dummy; return 0; }
API int cuCtxSynchronize() { return 0; }
API int cuCtxSetFlags(unsigned) { return 0; }
API int cuStreamCreate(void **out, unsigned) { *out = &dummy; return 0; }
API int cuStreamDestroy_v2(void *) { return 0; }
API int cuStreamSynchronize(void *) { return 0; }
API int cuStreamWaitEvent(void *, void *, unsigned) { return 0; }
API int cuEventCreate(void **out, unsigned) { *out = &dummy; return 0; }
API int cuEventDestroy_v2(void *) { return 0; }
API int cuEventRecord(void *, void *) { return 0; }
API int cuEventSynchronize(void *) { return 0; }
API int cuMemAllocAsync(Address *out, size_t bytes, void *) { *out = (Address)std::aligned_alloc(512, (bytes + 511) / 512 * 512); return *out ? 0 : 2; }
API int cuMemAlloc_v2(Address *out, size_t bytes) { return cuMemAllocAsync(out, bytes, nullptr); }
API int cuMemFreeAsync(Address at, void *) { std::free((void *)at); return 0; }
API int cuMemFree_v2(Address at) { std::free((void *)at); return 0; }
API int cuMemAllocHost_v2(void **out, size_t bytes) { *out = std::malloc(bytes); return *out ? 0 : 2; }
API int cuMemFreeHost(void *at) { std::free(at); return 0; }
API int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *) { std::memcpy((void *)to, from, bytes); return 0; }
API int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *) { std::memcpy(to, (void *)from, bytes); return 0; }
API int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *) { std::memmove((void *)to, (void *)from, bytes); return 0; }
API int cuGetErrorName(int, const char **out) { *out = "STAND_IN"; return 0; }
API int cuGetErrorString(int, const char **out) { *out = "the stand-in failed"; return 0; }

struct Dim { unsigned x, y, z; };
struct Module { void *library; void (*enter)(void **); Dim *thread, *block, *block_size, *grid_size; void (**wait)(); char **shared; int *meets; };

API int cuModuleLoadData(Module **out, const void *image) {
  void *library = dlopen((const char *)image, RTLD_NOW | RTLD_LOCAL);
  if (!library) { std::fprintf(stderr, "%s\n", dlerror()); return 200; }
  unlink((const char *)image);
  auto find = [&](const char *name) { return dlsym(library, name); };
  *out = new Module{library, (void (*)(void **))find("stand_in_enter"), (Dim *)find("threadIdx"), (Dim *)find("blockIdx"),
                    (Dim *)find("blockDim"), (Dim *)find("gridDim"), (void (**)())find("stand_in_wait"), (char **)find("stand_in_shared"), (int *)find("stand_in_meets")};
  return 0;
}
API int cuModuleUnload(Module *module) { dlclose(module->library); delete module; return 0; }
API int cuModuleGetFunction(Module **out, Module *module, const char *) { *out = module; return 0; }
API int cuFuncSetAttribute(Module *, int, int) { return 0; }

// Units are coroutines, made once: a context begins each, jumps that ask the system nothing switch between them.
static jmp_buf scheduler;
static std::deque<ucontext_t> births;
static std::vector<jmp_buf *> units;
static std::vector<char> done;
static size_t current;
static Module *running;
static void **arguments;

static void leave() {
  if (_setjmp(*units[current]) == 0) _longjmp(scheduler, 1);
}
static void unit() {
  for (;;) {
    running->enter(arguments);
    done[current] = 1;
    leave();
  }
}
static void __attribute__((noinline)) resume() {
  if (_setjmp(scheduler) != 0) return;
  if (units[current]) _longjmp(*units[current], 1);
  units[current] = new jmp_buf[1];
  setcontext(&births[current]);
}
static void make_units(size_t count) {
  constexpr size_t STACK = 64 << 10;
  for (size_t at = units.size(); at < count; at++) {
    births.emplace_back();
    units.push_back(nullptr);
    done.push_back(0);
  }
  for (size_t at = 0; at < count; at++) {
    if (units[at]) continue;
    getcontext(&births[at]);
    births[at].uc_stack = {.ss_sp = std::malloc(STACK), .ss_flags = 0, .ss_size = STACK};
    makecontext(&births[at], unit, 0);
  }
}

static void run_cube(Module *module, size_t count, unsigned bx, unsigned by) {
  auto place = [&] { *module->thread = {(unsigned)(current % bx), (unsigned)(current / bx % by), (unsigned)(current / bx / by)}; };
  if (!*module->meets) {
    for (current = 0; current < count; current++) place(), module->enter(arguments);
    return;
  }
  std::fill_n(done.begin(), count, 0);
  for (bool left = true; left;) {
    left = false;
    for (current = 0; current < count; current++) {
      if (done[current]) continue;
      place();
      resume();
      left = left || !done[current];
    }
  }
}

API int cuLaunchKernel(Module *module, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                       void *, void **params, void **) {
  size_t count = (size_t)bx * by * bz;
  make_units(count);
  running = module, arguments = params;
  *module->wait = leave;
  *module->block_size = {bx, by, bz};
  *module->grid_size = {gx, gy, gz};
  std::vector<char> memory(shared + 16);
  *module->shared = (char *)(((uintptr_t)memory.data() + 15) & ~(uintptr_t)15);
  for (unsigned z = 0; z < gz; z++) for (unsigned y = 0; y < gy; y++) for (unsigned x = 0; x < gx; x++) {
    *module->block = {x, y, z};
    // Shared memory begins as whatever was there before.
    std::fill(memory.begin(), memory.end(), (char)0xff);
    run_cube(module, count, bx, by);
  }
  return 0;
}
