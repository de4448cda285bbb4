"""Become another program that the kernel ends together with its parent: ``PARENT_PID PROGRAM ARGUMENT...``

A parent that is killed cannot tidy up, and OPA would go on listening. This is a program of its own, because
code between fork and exec is unsafe in a process with threads. Where there is no such signal, it only execs.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, program: str, *arguments: str) -> None:
    """Never returns."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the line above
            sys.exit(1)
    os.execve(program, [program, *arguments], {})  # noqa: S606  no shell is meant


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
