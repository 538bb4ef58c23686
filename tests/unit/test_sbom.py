"""The bill of materials of a portable core."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

import sbom


def test_a_source_package_has_its_version_its_licence_and_a_checksum(tmp_path: Path) -> None:
    text = "Format: 3.0 (quilt)\nSource: libsodium\nVersion: 1.0.18-1+deb12u1\n"
    (tmp_path / "libsodium_1.0.18-1+deb12u1.dsc").write_text(text)
    actual = sbom.of_source(tmp_path, "libsodium")
    assert actual["version"] == "1.0.18-1+deb12u1"
    assert actual["licenses"] == [{"expression": "ISC"}]
    assert actual["purl"] == "pkg:deb/debian/libsodium@1.0.18-1%2Bdeb12u1?arch=source"
    assert actual["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(text.encode()).hexdigest()}]


@pytest.mark.parametrize("versions", [[], ["1.0-1", "1.1-1"]], ids=["none", "two"])
def test_a_source_package_must_be_there_once(versions: list[str], tmp_path: Path) -> None:
    for version in versions:
        (tmp_path / f"hwloc_{version}.dsc").write_text(f"Version: {version}\n")
    with pytest.raises(FileNotFoundError, match=f"{len(versions)} files hwloc_"):
        sbom.of_source(tmp_path, "hwloc")


def test_an_installed_library_has_the_version_that_dpkg_knows() -> None:
    assert re.match(r"\d+\.\d+", sbom.of_installed("libfmt-dev")["version"])
