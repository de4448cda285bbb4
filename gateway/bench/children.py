"""Parts of the bench in processes of their own, each ended by its own id."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STOP_WITHIN_S = 45.0


class BenchFault(Exception):
    """The bench cannot measure what it says it measures. A slow machine is no fault."""


class Child:
    """A module of the bench that speaks lines of JSON and ends at the end of its standard input."""

    def __init__(self, module: str, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this Python, and a module of ours
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=(dict(os.environ) if environment is None else environment) | {"PYTHONPATH": str(ROOT)},
        )
        self.pid = self._process.pid

    def read(self) -> bytes:
        """The next line.

        :raises BenchFault: if the child has ended.
        """
        assert self._process.stdout is not None
        if not (line := self._process.stdout.readline()):
            raise BenchFault(f"A part of the bench ended with {self._process.wait()}; its complaint stands above.")
        return line

    def write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def close(self) -> None:
        """End it and wait."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        stop(self._process)


@contextmanager
def child(module: str, *arguments: str, environment: dict[str, str] | None = None) -> Iterator[Child]:
    """A ``Child`` for as long as the block lasts."""
    started = Child(module, *arguments, environment=environment)
    try:
        yield started
    finally:
        started.close()


def stop(process: "subprocess.Popen[bytes]") -> None:
    """SIGTERM, and SIGKILL for one that does not obey."""
    process.terminate()
    try:
        process.wait(STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
