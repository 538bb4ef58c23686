"""Unpack recorded machines: one text file per machine, with the files in which Linux describes it.

Each file `tests/machines/NAME.machine` consists of lines of these kinds:

    # text                  a comment; the one that begins with "# origin: " gives the source of the content
    [proc/self]             the directory of the entries that follow
    cgroup: 0::/            a file of one line
    mounts: <<              a file of several lines, up to a line that holds only ">>"
    proc /proc proc rw 0 0
    >>
    DMI: bytes <<           a binary file: pairs of hexadecimal digits, and strings in quotation marks
    11 28 "DIMM_A1" 00
    >>

A directory may stand for several: the entries below `[sys/devices/system/cpu/cpu{0-3,8}/topology]` are files of each of
the CPUs 0, 1, 2, 3 and 8. In their content, `{n}` is the number of the CPU and `{n-18}` that number minus 18.
`{mask n,n+36}` and `{mask 0-17,36-53}` are sets of CPUs in the format of the kernel's masks; the second one is
`3ffff0,0003ffff`.

`unpack` writes a directory tree that `nameplate-core --root` reads as a machine. One of its files does not exist on
Linux: `recorded/cpuid` has the results of the CPUID instruction, in the format of `cpuid -1 -r`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

_MACHINES = Path(__file__).parents[1] / "machines"
_SUFFIX = ".machine"
_ORIGIN = "# origin: "

_GROUP = re.compile(r"\{(?P<cpus>[\d,-]+)\}")
_PLACEHOLDER = re.compile(r"\{(?P<mask>mask )?(?P<cpus>[\dn,+-]+)\}")
_RELATIVE = re.compile(r"n(?P<offset>[+-]\d+)?")
_RANGE = re.compile(r"(?P<first>\d+)(-(?P<last>\d+))?")
_TEXT_OR_BYTES = re.compile(r'"(?P<text>[^"]*)"|(?P<bytes>\S+)')
_MASK_WORD_DIGITS = 8


def names() -> list[str]:
    """Return the names of all recorded machines, sorted."""
    return sorted(path.stem for path in _MACHINES.glob("*" + _SUFFIX))


def origin(name: str) -> str:
    """Return the source of the machine's content: "recorded", or the documents from which it was written."""
    for line in _read(name).splitlines():
        if line.startswith(_ORIGIN):
            return line.removeprefix(_ORIGIN)
    raise ValueError(f"{name}: no line gives the origin")


def unpack(name: str, directory: Path) -> None:
    """Write the machine's files below `directory`.

    Raises:
        FileExistsError: the machine names a path twice.
    """
    for path, content in _files(_read(name)):
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            file.write(content if isinstance(content, bytes) else f"{content}\n".encode())


def _read(name: str) -> str:
    return (_MACHINES / (name + _SUFFIX)).read_text(encoding="utf-8")


def _files(text: str) -> Iterator[tuple[str, str | bytes]]:
    for path, content in _entries(text):
        if isinstance(content, bytes):
            yield path, content
            continue
        group = _GROUP.search(path)
        if group is None:
            yield path, _filled(content, None)
            continue
        for cpu in _cpus(group["cpus"], None):
            yield _GROUP.sub(str(cpu), path), _filled(content, cpu)


def _entries(text: str) -> Iterator[tuple[str, str | bytes]]:
    directory = ""
    lines = iter(text.splitlines())
    for line in lines:
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            directory = line.strip("[]")
            continue
        name, separator, content = line.partition(":")
        if not separator:
            raise ValueError(f"neither a directory nor an entry: {line!r}")
        yield f"{directory}/{name}", _content(content.strip(), lines)


def _content(text: str, lines: Iterator[str]) -> str | bytes:
    if text == "bytes <<":
        return b"".join(_packed(match) for match in _TEXT_OR_BYTES.finditer(_block(lines)))
    return _block(lines) if text == "<<" else text


def _packed(match: re.Match[str]) -> bytes:
    return match["text"].encode() if match["text"] is not None else bytes.fromhex(match["bytes"])


def _block(lines: Iterator[str]) -> str:
    block: list[str] = []
    for line in lines:
        if line == ">>":
            return "\n".join(block)
        block.append(line)
    raise ValueError("a file of several lines has no closing line '>>'")


def _filled(content: str, cpu: int | None) -> str:
    def value(match: re.Match[str]) -> str:
        cpus = _cpus(match["cpus"], cpu)
        return _mask(cpus) if match["mask"] else ",".join(map(str, cpus))

    return _PLACEHOLDER.sub(value, content)


def _cpus(text: str, cpu: int | None) -> list[int]:
    return [number for part in text.split(",") for number in _part(part, cpu)]


def _part(text: str, cpu: int | None) -> range:
    relative = _RELATIVE.fullmatch(text)
    if relative and cpu is not None:
        number = cpu + int(relative["offset"] or 0)
        return range(number, number + 1)
    absolute = _RANGE.fullmatch(text)
    if absolute:
        return range(int(absolute["first"]), int(absolute["last"] or absolute["first"]) + 1)
    raise ValueError(f"not a CPU here: {text!r}")


def _mask(cpus: list[int]) -> str:
    digits = f"{sum(1 << cpu for cpu in cpus):x}"
    ends = range(len(digits), 0, -_MASK_WORD_DIGITS)
    return ",".join(digits[max(0, end - _MASK_WORD_DIGITS) : end] for end in reversed(ends))
