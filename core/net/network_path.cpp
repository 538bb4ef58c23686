#include "net/network_path.h"

#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

#include <array>
#include <cstring>
#include <optional>

#include "machine/descriptor.h"

namespace nameplate {

namespace {

constexpr double kMegabit = 1e6;

struct Route {
  int interface = 0;
  bool is_local = false;
  bool has_gateway = false;
};

struct Question {
  nlmsghdr header;
  rtmsg route;
  rtattr attribute;
  std::array<char, sizeof(in6_addr)> destination;
};

// rtnetlink(7): the route that the system would choose for an address.
std::optional<Route> route_to(const Address& address) {
  const Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  const std::string host = address.host_bytes();
  constexpr unsigned kBits = 8;
  Question question{};
  question.route.rtm_family = host.size() == sizeof(in_addr) ? AF_INET : AF_INET6;
  question.route.rtm_dst_len = static_cast<unsigned char>(kBits * host.size());
  question.attribute.rta_type = RTA_DST;
  question.attribute.rta_len = static_cast<unsigned short>(RTA_LENGTH(host.size()));
  host.copy(question.destination.data(), question.destination.size());
  question.header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_LENGTH(sizeof(rtmsg)) + question.attribute.rta_len);
  question.header.nlmsg_type = RTM_GETROUTE;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  alignas(nlmsghdr) std::array<char, 4096> answer{};
  if (send(socket.number(), &question, question.header.nlmsg_len, 0) < 0) return std::nullopt;
  const ssize_t got = recv(socket.number(), answer.data(), answer.size(), 0);
  const auto* header = static_cast<const nlmsghdr*>(static_cast<const void*>(answer.data()));
  if (got < 0 || !NLMSG_OK(header, static_cast<unsigned>(got)) || header->nlmsg_type != RTM_NEWROUTE) {
    return std::nullopt;
  }
  const auto* route = static_cast<const rtmsg*>(NLMSG_DATA(header));
  Route result{.is_local = route->rtm_type == RTN_LOCAL};
  auto left = static_cast<int>(RTM_PAYLOAD(header));
  for (const rtattr* part = RTM_RTA(route); RTA_OK(part, left); part = RTA_NEXT(part, left)) {
    if (part->rta_type == RTA_OIF) std::memcpy(&result.interface, RTA_DATA(part), sizeof result.interface);
    if (part->rta_type == RTA_GATEWAY || part->rta_type == RTA_VIA) result.has_gateway = true;
  }
  return result;
}

std::uint32_t mtu_of(int socket, const std::string& interface) {
  ifreq request{};
  interface.copy(static_cast<char*>(request.ifr_name), IFNAMSIZ - 1);
  return ioctl(socket, SIOCGIFMTU, &request) == 0 ? static_cast<std::uint32_t>(request.ifr_mtu) : 0;
}

std::uint32_t path_mtu_of(int socket) {
  const bool is_ipv4 = peer_address(socket).family() == AF_INET;
  int mtu = 0;
  socklen_t length = sizeof mtu;
  const int level = is_ipv4 ? IPPROTO_IP : IPPROTO_IPV6;
  return getsockopt(socket, level, is_ipv4 ? IP_MTU : IPV6_MTU, &mtu, &length) == 0 ? static_cast<std::uint32_t>(mtu)
                                                                                    : 0;
}

std::uint32_t segment_bytes_of(int socket) {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  const bool is_reported = getsockopt(socket, IPPROTO_TCP, TCP_MAXSEG, &bytes, &length) == 0;
  return is_reported ? static_cast<std::uint32_t>(bytes) : 0;
}

std::string congestion_of(int socket) {
  std::array<char, 16> name{};
  socklen_t length = name.size() - 1;
  return getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) == 0 ? name.data() : "";
}

}  // namespace

NetworkPath path_of(const Root& root, int socket) {
  NetworkPath path{
      .path_mtu = path_mtu_of(socket), .segment_bytes = segment_bytes_of(socket), .congestion = congestion_of(socket)};
  const auto route = route_to(peer_address(socket));
  if (!route) return path;
  std::array<char, IF_NAMESIZE> name{};
  if (if_indextoname(static_cast<unsigned>(route->interface), name.data()) == nullptr) return path;
  path.interface = name.data();
  path.is_local = route->is_local;
  path.route = route->is_local ? "this machine" : route->has_gateway ? "gateway" : "direct";
  path.interface_mtu = mtu_of(socket, path.interface);
  // A virtual interface reports -1, or nothing.
  const auto speed = root.number(fmt::format("/sys/class/net/{}/speed", path.interface));
  if (speed && *speed > 0) path.link_bits_per_s = static_cast<double>(*speed) * kMegabit;
  return path;
}

}  // namespace nameplate
