"""Write a software bill of materials (CycloneDX 1.6) of the core in a portable wheel.

    python sbom.py SOURCES ARCHITECTURE OUTPUT.cdx.json

SOURCES is a folder with the .dsc files of the Debian source packages that the core is built from, as apt-get downloads
them. Libraries that consist of headers are installed packages, whose versions are read from dpkg. Components that come
with the compilers have the version of their compiler. Python packages are not part of the wheel.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

# The licences of the linked libraries, as SPDX expressions.
SOURCE_PACKAGES = {"highway": "Apache-2.0", "hwloc": "BSD-3-Clause", "libaio": "LGPL-2.1-or-later",
                   "liburing": "LGPL-2.1-only OR MIT", "libsodium": "ISC"}  # fmt: skip
HEADER_PACKAGES = {"libcli11-dev": "BSD-3-Clause", "libfmt-dev": "MIT", "nlohmann-json3-dev": "MIT"}
COMPILER_LIBRARIES = ("libc++", "libc++abi", "libunwind", "compiler-rt")
LLVM = "Apache-2.0 WITH LLVM-exception"
# The object that finds the features of an x86 CPU.
LIBGCC = "GPL-3.0-or-later WITH GCC-exception-3.1"


def component(name: str, version: str, licence: str, purl: str, sha256: str = "") -> dict[str, Any]:
    """Return a library as a CycloneDX component.

    ``licence`` is an SPDX expression, ``purl`` the package URL, and ``sha256`` the checksum of the source, "" if it is
    not known.
    """
    return {
        "type": "library", "name": name, "version": version, "licenses": [{"expression": licence}], "purl": purl,
        "bom-ref": purl, **({"hashes": [{"alg": "SHA-256", "content": sha256}]} if sha256 else {}),
    }  # fmt: skip


def of_source(sources: Path, name: str) -> dict[str, Any]:
    """Return the component of a Debian source package, with the checksum of its .dsc file.

    The .dsc file has the checksums of the source archives. ``sources`` is the folder with the .dsc files, and ``name``
    is a key of ``SOURCE_PACKAGES``.

    Raises:
        FileNotFoundError: ``sources`` does not have exactly one .dsc file of the package.
        ValueError: the .dsc file has no version.
    """
    paths = sorted(sources.glob(f"{name}_*.dsc"))
    if len(paths) != 1:
        raise FileNotFoundError(f"{sources}: {len(paths)} files {name}_*.dsc instead of one")
    text = paths[0].read_text()
    match = re.search(r"^Version: (\S+)$", text, re.MULTILINE)
    if match is None:
        raise ValueError(f"{paths[0]}: no line 'Version:'")
    purl = f"pkg:deb/debian/{name}@{match[1].replace('+', '%2B')}?arch=source"
    return component(name, match[1], SOURCE_PACKAGES[name], purl, hashlib.sha256(paths[0].read_bytes()).hexdigest())


def of_installed(package: str) -> dict[str, Any]:
    """Return the component of an installed Debian package, which is a key of ``HEADER_PACKAGES``.

    Raises CalledProcessError if dpkg does not know the package.
    """
    command = ["dpkg-query", "--show", "--showformat=${Version}", package]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    purl = f"pkg:deb/debian/{package}@{output.replace('+', '%2B')}"
    return component(package, output, HEADER_PACKAGES[package], purl)


def of_compilers(architecture: str) -> list[dict[str, Any]]:
    """Return the components that the compilers link in: the C++ library of zig and, on x86-64, an object of g++.

    ``architecture`` is the target of the wheel, such as ``x86_64``.
    """
    zig = version("ziglang")
    made = [component(name, zig, LLVM, f"pkg:pypi/ziglang@{zig}#{name}") for name in COMPILER_LIBRARIES]
    if architecture == "x86_64":
        gcc = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
        made.append(component("libgcc", gcc, LIBGCC, f"pkg:generic/libgcc@{gcc}#cpuinfo.o"))
    return made


def bill(sources: Path, architecture: str, version: str) -> dict[str, Any]:
    """Return the bill of materials of the core as a CycloneDX document.

    ``sources`` is the folder with the .dsc files, ``architecture`` the target of the wheel, such as ``x86_64``, and
    ``version`` the version of nameplate.
    """
    components = [
        *(of_source(sources, name) for name in SOURCE_PACKAGES),
        *(of_installed(package) for package in HEADER_PACKAGES),
        *of_compilers(architecture),
    ]
    root = f"pkg:pypi/nameplate@{version}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "name": "nameplate-core", "version": version, "bom-ref": root,
                          "purl": root, "licenses": [{"expression": "Apache-2.0"}]},
            "properties": [{"name": "architecture", "value": architecture}],
        },
        "components": components,
        "dependencies": [{"ref": root, "dependsOn": [one["bom-ref"] for one in components]}],
    }  # fmt: skip


def nameplate_version() -> str:
    """Return the version of nameplate in this source tree."""
    text = (Path(__file__).parents[1] / "src" / "nameplate" / "__init__.py").read_text()
    match = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    assert match is not None
    return match[1]


if __name__ == "__main__":
    _, sources, architecture, output = sys.argv
    Path(output).write_text(json.dumps(bill(Path(sources), architecture, nameplate_version()), indent=1) + "\n")
