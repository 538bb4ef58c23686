"""The parameters of nameplate's probes that do the same work as a study's published value."""

from __future__ import annotations

from nameplate.records.plan_record import Value
from nameplate.studies._quantity import Fields

# The maximum payload of a UDP datagram over IPv4, in bytes.
MAX_DATAGRAM = 65_507


def blocks(fields: Fields) -> dict[str, Value]:
    """Return the parameters of ``disk_block`` or ``memory_block`` that do the work of a published value.

    The fields "op", "pattern" and "threads" become parameters of the same name, and "block_bytes" becomes "block". A
    field that is missing gives no parameter. Other fields are ignored.
    """
    names = {"op": "op", "pattern": "pattern", "block_bytes": "block", "threads": "threads"}
    return {column: fields[name] for name, column in names.items() if name in fields}


def arithmetic(fields: Fields) -> dict[str, Value]:
    """Return the parameters of ``cpu_flops`` or ``cpu_intops`` that do the work of a published value.

    The field "threads" is required (KeyError if it is missing) and becomes the parameter of the same name. The
    parameter "mix" is "mixed". Other fields are ignored.
    """
    return {"mix": "mixed", "threads": fields["threads"]}


def round_trips(fields: Fields) -> dict[str, Value]:
    """Return the parameters of ``net_pingpong`` that do the work of a published value.

    The fields "protocol" ("tcp" or "udp"), "block_bytes" and "threads" are required (KeyError if one is missing). They
    become the parameters "protocol", "payload" in bytes, and "connections". With "udp" the payload is limited to
    ``MAX_DATAGRAM`` (65,507 bytes), the maximum of a datagram.
    """
    payload = int(fields["block_bytes"])
    if fields["protocol"] == "udp":
        payload = min(payload, MAX_DATAGRAM)
    return {"protocol": fields["protocol"], "payload": payload, "connections": fields["threads"]}
