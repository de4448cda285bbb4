"""What the kernel knows of a process: CPU time, memory, children. Linux only, from /proc."""

import os
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")


def cpu_s(pid: int) -> float:
    """CPU seconds of a process so far, user and system, all its threads, without its children.

    :raises FileNotFoundError: if it has ended.
    """
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def resident_mb(pid: int) -> float:
    """Resident memory in megabytes (10^6 bytes), shared pages included.

    :raises FileNotFoundError: if the process has ended.
    """
    pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def children(pid: int) -> list[int]:
    """Process ids of the direct children."""
    found: list[int] = []
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            parent = int(_stat(int(folder.name))[1])
        except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
            continue
        if parent == pid:
            found.append(int(folder.name))
    return found


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on: the second is a name, which may hold spaces and brackets."""
    return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
