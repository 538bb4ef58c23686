#include "mpi/settings.h"

#include <array>
#include <optional>
#include <sstream>

#include "mpi/ranks.h"

namespace nameplate {

namespace {

using Name = std::array<char, 256>;

struct Variable {
  Name name{};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int binding = 0;
};

std::optional<Variable> read_variable(int index) {
  Variable variable;
  int name_length = variable.name.size();
  int verbosity = 0;
  int scope = 0;
  int no_description = 0;
  MPI_T_enum values = MPI_T_ENUM_NULL;
  const int result = MPI_T_cvar_get_info(index, variable.name.data(), &name_length, &verbosity, &variable.type, &values,
                                         nullptr, &no_description, &variable.binding, &scope);
  if (result != MPI_SUCCESS) return std::nullopt;
  return variable;
}

template <class T>
double read_as(MPI_T_cvar_handle handle) {
  T value{};
  MPI_T_cvar_read(handle, &value);
  return static_cast<double>(value);
}

std::optional<double> read_value(int index, MPI_Datatype type) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return std::nullopt;
  std::optional<double> value;
  if (count == 1) {
    if (type == MPI_INT) value = read_as<int>(handle);
    if (type == MPI_UNSIGNED) value = read_as<unsigned>(handle);
    if (type == MPI_UNSIGNED_LONG) value = read_as<unsigned long>(handle);
    if (type == MPI_UNSIGNED_LONG_LONG) value = read_as<unsigned long long>(handle);
  }
  MPI_T_cvar_handle_free(&handle);
  return value;
}

bool names_a_limit(const std::string& name) {
  const bool is_limit = name.ends_with("_eager_limit") || name.find("EAGER_MAX_MSG_SIZE") != std::string::npos;
  return is_limit && name.find("rndv") == std::string::npos;
}

}  // namespace

std::map<std::string, double> eager_limits() {
  std::map<std::string, double> limits;
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return limits;
  int count = 0;
  MPI_T_cvar_get_num(&count);
  for (int i = 0; i < count; ++i) {
    const auto variable = read_variable(i);
    if (!variable || variable->binding != MPI_T_BIND_NO_OBJECT || !names_a_limit(variable->name.data())) continue;
    const auto value = read_value(i, variable->type);
    if (value && *value > 0) limits[variable->name.data()] = *value;
  }
  MPI_T_finalize();
  return limits;
}

std::map<std::string, double> interface_mtus(const Root& root) {
  std::map<std::string, double> mtus;
  for (const std::string& name : root.names("/sys/class/net")) {
    const auto mtu = root.number("/sys/class/net/" + name + "/mtu");
    if (mtu && name != "lo") mtus[name] = static_cast<double>(*mtu);
  }
  return mtus;
}

std::map<std::string, double> socket_buffers(const Root& root) {
  std::map<std::string, double> sizes;
  for (const std::string name : {"tcp_rmem", "tcp_wmem"}) {
    std::istringstream fields(root.text("/proc/sys/net/ipv4/" + name).value_or(""));
    double smallest = 0;
    double default_size = 0;
    double greatest = 0;
    if (!(fields >> smallest >> default_size >> greatest)) continue;
    sizes[name + " default"] = default_size;
    sizes[name + " greatest"] = greatest;
  }
  return sizes;
}

}  // namespace nameplate
