"""Name the generation of a server CPU from its model's name, where the name tells.

Sources: AMD, "EPYC processor naming" (the last digit of the number is the generation); Intel, "Intel Xeon processor
numbers" (the second digit, and "v" and a digit after the number); names of cores in the guest are the core's own.
"""

from __future__ import annotations

import re
from functools import cache

_PATTERNS: tuple[tuple[str, str], ...] = (
    (r"EPYC 7\w{2}1", "Zen"),
    (r"EPYC[ -](7\w{2}2|Rome)", "Zen 2"),
    (r"EPYC[ -](7\w{2}3|Milan)", "Zen 3"),
    (r"EPYC[ -]([489]\w{2}4|Genoa)", "Zen 4"),
    (r"EPYC[ -]([489]\w{2}5|Turin)", "Zen 5"),
    (r"E[57]-\d{4}\w? v2|IvyBridge", "Ivy Bridge"),
    (r"E[57]-\d{4}\w? v3|Haswell", "Haswell"),
    (r"E[57]-\d{4}\w? v4|Broadwell", "Broadwell"),
    (r"(Platinum|Gold|Silver|Bronze) [3-8]1\d{2}|\(Skylake|Skylake-Server", "Skylake-SP"),
    (r"(Platinum|Gold|Silver|Bronze) [3-8]2\d{2}|Cascadelake", "Cascade Lake"),
    (r"(Platinum|Gold) [58]3\d{2}H", "Cooper Lake"),
    (r"(Platinum|Gold|Silver) [3-8]3\d{2}|Icelake-Server", "Ice Lake-SP"),
    (r"(Platinum|Gold|Silver|Bronze) [3-8]4\d{2}|SapphireRapids", "Sapphire Rapids"),
    (r"(Platinum|Gold|Silver|Bronze) [3-8]5\d{2}|EmeraldRapids", "Emerald Rapids"),
    (r"Xeon\(R\) 6[59]\d{2}P|GraniteRapids", "Granite Rapids"),
    (r"(Neoverse-[NVE]\d)", ""),
)
_COMPILED = [(re.compile(pattern, re.IGNORECASE), name) for pattern, name in _PATTERNS]


@cache
def generation_of(cpu: str) -> str:
    """Return the generation of a CPU, such as "Zen 4", or "" if the name does not tell.

    ``cpu`` is the model's name as in /proc/cpuinfo, or the name of an Arm core.
    """
    for pattern, name in _COMPILED:
        if found := pattern.search(cpu):
            return name or found[1]
    return ""
