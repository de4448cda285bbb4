"""Files of the data directory beside the store: two secrets, the lock, and where the server is."""

import fcntl
import json
import os
import secrets
import stat
import tempfile
from pathlib import Path

from gateway.domain.errors import StartRefused
from gateway.service.credentials import is_token, new_token

OPERATOR_FILE = "operator.key"
SALT_FILE = "cache-salt.key"
SALT_BYTES = 32
ADDRESS_FILE = "address.json"
"""Where the command line finds the running server."""
LOCK_FILE = "lock"
"""The store's; whoever holds it is the one process of this data directory."""


def operator_token(data: Path) -> str:
    """The operator's credential of this data directory, made at the first start (mode 0600).

    :raises StartRefused: if the file does not hold a credential.
    """
    path = data / OPERATOR_FILE
    if not path.exists():
        _write_privately(path, new_token() + "\n")
    token = path.read_bytes().decode("ascii", "replace").strip()
    if not is_token(token):
        raise StartRefused(
            f"The file {OPERATOR_FILE} of the data directory holds no credential. Remove it and start again."
        )
    return token


def salt_secret(data: Path) -> bytes:
    """What the cache salts of this gateway are derived from: 32 random bytes, made at the first start (mode 0600).

    Without the file a new secret is made, and engines find none of the prefixes that they have cached.

    :raises StartRefused: if the file can be read by others, or holds anything else.
    """
    path = data / SALT_FILE
    if not path.exists():
        _write_privately(path, secrets.token_hex(SALT_BYTES) + "\n")
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise StartRefused(
            f"Others may read the file {SALT_FILE} of the data directory. Remove it, because its secret is no longer "
            "one, and start again."
        )
    try:
        secret = bytes.fromhex(path.read_text(encoding="ascii"))
    except ValueError:
        secret = b""
    if len(secret) != SALT_BYTES:
        raise StartRefused(f"The file {SALT_FILE} of the data directory holds no secret. Remove it and start again.")
    return secret


def _write_privately(path: Path, text: str) -> None:
    """Whole or not at all, and for its owner alone.

    :raises StartRefused: if the disk does not take it.
    """
    temporary: str | None = None
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent)  # mode 0600
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise StartRefused(
            f"The data directory GATEWAY_DATA cannot be written ({error.strerror}). Make room, or mend its permissions."
        ) from None


def write_address(data: Path, url: str) -> None:
    """Let the command line find this server."""
    _write_privately(data / ADDRESS_FILE, json.dumps({"url": url}) + "\n")


def forget_address(data: Path) -> None:
    """No server of this data directory can be reached any more."""
    (data / ADDRESS_FILE).unlink(missing_ok=True)


def read_address(data: Path) -> str | None:
    """The URL of the server that holds this data directory; None while it starts or ends."""
    try:
        return str(json.loads((data / ADDRESS_FILE).read_text(encoding="ascii"))["url"])
    except FileNotFoundError:
        return None


def is_held(data: Path) -> bool:
    """Whether a process holds the data directory. Whoever then opens the store takes the lock for good or fails."""
    try:
        descriptor = os.open(data / LOCK_FILE, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
