"""Reads secrets where credentials say that they lie: in the environment, or as files of one folder.

They are read together, at the start and at a reload, so that nobody waits for a disk later and a rotated secret counts
from a moment that somebody chose.
"""

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from gateway.domain.registry import Credential
from gateway.ports.secrets import Held, NotHeld, Secret

MAX_BYTES = 16 * 1024
"""The longest tokens of providers have some thousands."""
_EXPOSED = stat.S_IRWXO | stat.S_IWGRP
"""Reading by the group is not among them: volumes of secrets are mounted so for a process that is not root."""


class Vault:
    """Secrets by credential. One that changed in any field is another one, and is not held until it is read."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._environment = environment
        self._folder = folder
        self._read: Mapping[Credential, Held | NotHeld] = {}

    def read(self, credentials: Iterable[Credential]) -> None:
        """Read these again. Others are kept: they may be in force until what is being prepared takes their place."""
        self._read = {**self._read, **{credential: self._look_up(credential) for credential in credentials}}

    def of(self, credential: Credential) -> Held | NotHeld:
        """What was read last."""
        return self._read.get(credential, "credential_missing")

    def _look_up(self, credential: Credential) -> Held | NotHeld:
        where, _, name = credential.secret.partition(":")
        found = self._from_environment(name) if where == "env" else _from_file(self._folder / name)
        if isinstance(found, str):
            return found
        if not found or len(found) > MAX_BYTES or not all(0x21 <= byte <= 0x7E for byte in found):
            return "credential_malformed"
        return Held(credential, Secret(found.decode("ascii")))

    def _from_environment(self, name: str) -> bytes | NotHeld:
        value = self._environment.get(name, "")
        return value.encode("utf-8", "surrogateescape") if value else "credential_missing"


def _from_file(path: Path) -> bytes | NotHeld:
    """The bytes of a file that belongs to this user or to root, and that not everybody may read."""
    try:
        # Opened once and then looked at, so that it is the file that is read which was looked at.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                return "credential_unreadable"
            if about.st_mode & _EXPOSED or about.st_uid not in (os.geteuid(), 0):
                return "credential_exposed"
            # One line may end: files that people write do.
            return file.read(MAX_BYTES + 2).removesuffix(b"\n")
    except FileNotFoundError:
        return "credential_missing"
    except OSError:
        return "credential_unreadable"
