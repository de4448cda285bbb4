"""The folder of one policy in the temporary folder: OPA's bundle and socket, for this user only.

Who is killed leaves it behind, and the next start removes it: the folder is locked while it is used, and the kernel
frees a lock even after kill -9. A process id in its name would not tell as much: ids are used again, and another
container that shares the temporary folder counts its own.
"""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

PREFIX = "policy-gateway-opa-"
_OPEN = os.O_RDONLY | os.O_DIRECTORY


class Folder:
    """Made and locked by its constructor; removed by ``remove``, or by another process once this one is gone.

    :raises OSError: it cannot be made.
    """

    def __init__(self) -> None:
        _remove_stale()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.bundle = self.path / "bundle.tar.gz"
        self.socket = self.path / "opa.sock"
        self._lock: int | None = os.open(self.path, _OPEN)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Remove it. A second call does nothing."""
        if self._lock is not None:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = None


def _remove_stale() -> None:
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody uses it, it is another user's, or it has just been removed
            _remove_if_stale(path)


def _remove_if_stale(path: Path) -> None:
    folder = os.open(path, _OPEN)
    try:
        # An empty one may have been made just now, and not be locked yet.
        if os.fstat(folder).st_uid == os.geteuid() and any(path.iterdir()):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(folder)
