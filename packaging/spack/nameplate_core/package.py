# SPDX-License-Identifier: Apache-2.0
"""The programs of nameplate that measure, for ``spack install nameplate-core +mpi``.

nameplate itself is installed with pip, since Spack has no py-cyclopts, and finds these programs by
``NAMEPLATE_CORE=$(spack location -i nameplate-core)/bin/nameplate-core``.
"""

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class NameplateCore(CMakePackage):
    """Measures what a machine and its cluster deliver: CPU, memory, disk, network and MPI."""

    pypi = "nameplate/nameplate-0.1.0.tar.gz"

    license("Apache-2.0")

    # The checksum is added when a version is published: spack checksum nameplate-core
    version("0.1.0")

    variant("mpi", default=True, description="Build the program for the probes of MPI")
    variant("pmem", default=False, description="Measure persistent memory with libpmem")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    # The plan of "nameplate-core quick" is generated from declarations in Python.
    depends_on("python@3.10:", type="build")
    depends_on("py-msgspec@0.18:", type="build")
    depends_on("cli11@2:")
    depends_on("fmt@9:")
    depends_on("highway@1:")
    depends_on("hwloc@2:")
    depends_on("libaio")
    depends_on("libsodium")
    depends_on("liburing@2.3:")
    depends_on("nlohmann-json@3.11:")
    depends_on("mpi@3:", when="+mpi")
    depends_on("pmdk", when="+pmem")

    requires("platform=linux", msg="nameplate reads /proc and /sys of Linux")

    generator("ninja")
    build_targets = ["programs"]

    def cmake_args(self):
        mpicxx = self.spec["mpi"].mpicxx if "+mpi" in self.spec else ""
        return [
            self.define("NAMEPLATE_SHARED_LIBRARIES", True),
            self.define("NAMEPLATE_MPICXX", mpicxx),
            self.define("Python3_EXECUTABLE", self.spec["python"].command.path),
        ]
