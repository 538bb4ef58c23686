"""The parameters of nameplate's probes that do the same work as a study's published value."""

from __future__ import annotations

from nameplate.records.plan_record import Value
from nameplate.results.studies._quantity import Fields

# The maximum payload of a UDP datagram over IPv4, in bytes.
MAX_DATAGRAM = 65_507


def blocks(fields: Fields) -> dict[str, Value]:
    """Return the parameters of ``disk_block`` and ``memory_block`` that do the work of a published value.

    The fields "op", "pattern", "block_bytes" and "threads" are used, as far as they are present; the block size becomes
    the parameter "block", in bytes. Other fields are ignored.
    """
    names = {"op": "op", "pattern": "pattern", "block_bytes": "block", "threads": "threads"}
    return {own: fields[name] for name, own in names.items() if name in fields}


def arithmetic(fields: Fields) -> dict[str, Value]:
    """Return the parameters of ``cpu_flops`` and ``cpu_intops`` that do the work of a published value.

    The field "threads" is required; without it KeyError is raised. The mix is always "mixed", and other fields are
    ignored.
    """
    return {"mix": "mixed", "threads": fields["threads"]}


def round_trips(fields: Fields) -> dict[str, Value]:
    """Return the parameters of ``net_pingpong`` that do the work of a published value.

    The fields "protocol" ("tcp" or "udp"), "block_bytes" and "threads" are required; a missing one raises KeyError.
    They become the protocol, the payload of a message in bytes and the number of connections. The payload of "udp" is
    at most ``MAX_DATAGRAM`` (65,507 bytes), since a datagram holds no more.
    """
    payload = int(fields["block_bytes"])
    if fields["protocol"] == "udp":
        payload = min(payload, MAX_DATAGRAM)
    return {"protocol": fields["protocol"], "payload": payload, "connections": fields["threads"]}
