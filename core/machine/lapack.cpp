#include "machine/lapack.h"

#include <array>
#include <bit>
#include <filesystem>

#include "probe/error.h"

namespace nameplate {

namespace {

static_assert(std::endian::native == std::endian::little, "LapackInteger relies on it");

// The pthreads build in distributions that install several, the usual name, and any LAPACK.
const std::vector<std::string> kDefaultLibraries = {"libopenblas.so.0", "libopenblasp.so.0", "liblapack.so.3"};
constexpr const char* kPackage = "libopenblas0-pthread";

// The functions with which a library's threads are set and queried.
struct Threading {
  const char* set;
  const char* get;
};
constexpr std::array<Threading, 2> kThreading = {
    {{"openblas_set_num_threads", "openblas_get_num_threads"}, {"MKL_Set_Num_Threads", "MKL_Get_Max_Threads"}}};

SharedLibrary load(const std::string& name) {
  return name.empty() ? SharedLibrary::first_of(kDefaultLibraries, kPackage) : SharedLibrary::of_user(name);
}

std::string text_of(const SharedLibrary& library, const char* function) {
  auto* const say = library.function_if_there<char*()>(function);
  return say == nullptr ? "" : say();
}

// Returns version and build: "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …", or a line of MKL's.
std::string config_of(const SharedLibrary& library) {
  std::array<char, 256> line{};
  auto* const say = library.function_if_there<void(char*, int)>("MKL_Get_Version_String");
  if (say == nullptr) return text_of(library, "openblas_get_config");
  say(line.data(), static_cast<int>(line.size()));
  return line.data();
}

// Returns the kind of threads by OpenBLAS's numbers (openblas_get_parallel).
std::string threading_of(const SharedLibrary& library) {
  constexpr std::array<const char*, 3> kNames = {"none", "pthreads", "OpenMP"};
  auto* const kind = library.function_if_there<int()>("openblas_get_parallel");
  return kind == nullptr ? "" : kNames.at(static_cast<std::size_t>(kind()));
}

std::string without_trailing_spaces(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string name_and_version(const std::string& text) { return text.substr(0, text.find(' ', text.find(' ') + 1)); }

}  // namespace

Lapack::Lapack(const std::string& library) : library_(load(library)), dgesv_(library_.function<Dgesv>("dgesv_")) {
  for (const Threading& way : kThreading) {
    if (set_threads_ != nullptr) break;
    set_threads_ = library_.function_if_there<SetThreads>(way.set);
    get_threads_ = library_.function_if_there<GetThreads>(way.get);
  }
}

std::string Lapack::name() const { return std::filesystem::path(library_.name()).filename(); }

int Lapack::set_threads(int threads) const {
  if (set_threads_ == nullptr || get_threads_ == nullptr) return 1;
  set_threads_(threads);
  return get_threads_();
}

std::map<std::string, std::string> Lapack::labels() const {
  const std::string config = without_trailing_spaces(config_of(library_));
  const bool is_openblas = config.starts_with("OpenBLAS");
  std::map<std::string, std::string> labels = {{"blas", is_openblas ? name_and_version(config) : name()},
                                               {"blas_config", config},
                                               {"blas_core", text_of(library_, "openblas_get_corename")},
                                               {"blas_threading", threading_of(library_)}};
  std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
  return labels;
}

std::int64_t Lapack::solve(std::int64_t n, double* a, std::int64_t lda, LapackInteger* pivots, double* b) const {
  constexpr LapackInteger kOne = 1;
  LapackInteger info = 0;
  dgesv_(&n, &kOne, a, &lda, pivots, b, &n, &info);
  return info;
}

}  // namespace nameplate
