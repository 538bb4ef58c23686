"""Ask the metadata service of a cloud for the type of this instance. Nothing is asked unless the user wants it.

The addresses are link-local and answered by the host. Sources: the vendors' documentation of their instance metadata
services (AWS IMDSv2, Azure IMDS, Google Compute Engine, Alibaba Cloud).
"""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from dataclasses import dataclass, field

_LINK_LOCAL = "169.254.169.254"
_ALIBABA = "100.100.100.200"
_TIMEOUT_S = 1.0
# Longer than the name of any type.
_MAX_BYTES = 256


@dataclass(frozen=True)
class _Service:
    """A question whose answer is the name of the type, after ``token_path`` has given the value of ``token_header``."""

    address: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    token_path: str = ""
    token_header: str = ""


_SERVICES = (
    _Service(_LINK_LOCAL, "/latest/meta-data/instance-type", token_path="/latest/api/token",
             token_header="X-aws-ec2-metadata-token"),
    _Service(_LINK_LOCAL, "/metadata/instance/compute/vmSize?api-version=2021-02-01&format=text",
             {"Metadata": "true"}),
    _Service(_LINK_LOCAL, "/computeMetadata/v1/instance/machine-type", {"Metadata-Flavor": "Google"}),
    _Service(_ALIBABA, "/latest/meta-data/instance/instance-type"),
)  # fmt: skip


def ask_metadata() -> str:
    """Return the type of this instance as its cloud names it, such as ``c7i.large``, or "" if no service answers.

    The services of AWS, Azure, Google and Alibaba are asked one after another until one answers. Each has 1 s to answer
    a request.
    """
    for service in _SERVICES:
        name = _answer(service)
        if name:
            # Google answers with projects/NUMBER/machineTypes/NAME.
            return name.rpartition("/")[2]
    return ""


def _answer(service: _Service) -> str:
    headers = dict(service.headers)
    try:
        if service.token_path:
            lifetime = {f"{service.token_header}-ttl-seconds": "60"}
            headers[service.token_header] = _asked(service.address, "PUT", service.token_path, lifetime)
        return _asked(service.address, "GET", service.path, headers)
    except (OSError, http.client.HTTPException, ValueError):
        # No such service here, which is usual.
        return ""


def _asked(address: str, method: str, path: str, headers: Mapping[str, str]) -> str:
    connection = http.client.HTTPConnection(address, timeout=_TIMEOUT_S)
    try:
        connection.request(method, path, headers=dict(headers))
        response = connection.getresponse()
        text = response.read(_MAX_BYTES).decode("ascii").strip()
        return text if response.status == http.client.OK and text.isprintable() else ""
    finally:
        connection.close()
