"""Settings from the environment. A misspelt one stops the start, because it would otherwise be ignored."""

import difflib
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

PREFIX = "GATEWAY_"
MOST_SECONDS = 3600.0
SECRETS = "GATEWAY_SECRET_"
"""Secrets that credentials of the registry refer to; read by name (adapters/secrets), never listed."""
_INJECTED = ("GATEWAY_PORT", "GATEWAY_SERVICE_")
"""Kubernetes injects these for a Service called gateway; no setting has such a name."""


class SettingsFault(Exception):
    """A setting is unknown or has a value that does not fit. The text never holds the value."""


class Settings(Struct, frozen=True, kw_only=True):
    """Where things are and how much is allowed. Each field is GATEWAY_ and its name in capitals."""

    registry: str = "registry"
    """Folder of the registry."""
    policies: str = "policies"
    """Folder of the Rego policies."""
    data: str = "data"
    """Folder of the store and of the operator's credential."""
    vocabularies: str = "vocabularies"
    """Folder of the vocabularies that profiles count with."""
    secrets: str = "secrets"
    """Folder of the files with secrets of providers that credentials name."""
    listen: str = "127.0.0.1:8080"
    """Address and port of the HTTP server. Port 0 takes a free one."""
    max_body_bytes: int = 1024 * 1024
    """Largest request body that is read."""
    body_within_s: float = 30.0
    """Seconds in which a request body must have arrived."""
    drain_s: float = 30.0
    """Seconds that running operations get after SIGTERM before they are left as unknown."""
    log_level: str = "info"
    """debug, info, warning or error."""

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of ``listen``."""
        host, _, port = self.listen.rpartition(":")
        return host.strip("[]"), int(port)

    @property
    def registry_folder(self) -> Path:
        return Path(self.registry)

    @property
    def policies_folder(self) -> Path:
        return Path(self.policies)

    @property
    def vocabularies_folder(self) -> Path:
        return Path(self.vocabularies)

    @property
    def secrets_folder(self) -> Path:
        return Path(self.secrets)

    @property
    def data_folder(self) -> Path:
        return Path(self.data)


def from_environment(environment: Mapping[str, str]) -> Settings:
    """Read the settings.

    :raises SettingsFault: for an unknown GATEWAY_ variable or a value that does not fit.
    """
    known = {PREFIX + name.upper(): name for name in Settings.__struct_fields__}
    given: dict[str, str] = {}
    unknown: list[str] = []
    for variable, value in sorted(environment.items()):
        if not variable.startswith(PREFIX) or variable.startswith((SECRETS, *_INJECTED)):
            continue
        if variable not in known:
            unknown.append(variable)
        elif not value:
            raise SettingsFault(f"{variable} is empty. Give it a value, or leave it out.")
        else:
            given[known[variable]] = value
    if unknown:
        raise SettingsFault("\n".join(_unknown(variable, known) for variable in unknown))
    try:
        settings = msgspec.convert(given, Settings, strict=False)
    except msgspec.ValidationError as error:
        field = str(error).rpartition("$.")[2].rstrip("`")
        kind = "a whole number" if "int" in str(error) else "a number"
        raise SettingsFault(f"{PREFIX}{field.upper()} must be {kind}; docs/settings.md says of what.") from None
    settings = msgspec.structs.replace(settings, log_level=settings.log_level.lower())
    _check(settings)
    return settings


def _unknown(variable: str, known: Mapping[str, str]) -> str:
    names = [name.removeprefix(PREFIX) for name in known]
    nearest = difflib.get_close_matches(variable.removeprefix(PREFIX), names, n=1)
    hint = f"Did you mean {PREFIX}{nearest[0]}?" if nearest else "docs/settings.md lists the settings."
    return f"{variable} is no setting of the gateway. {hint}"


def _check(settings: Settings) -> None:
    host, _, port = settings.listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise SettingsFault("GATEWAY_LISTEN must be an address and a port, such as 127.0.0.1:8080.")
    if (
        settings.max_body_bytes < 1
        or not 0 < settings.body_within_s <= MOST_SECONDS
        or not 0 <= settings.drain_s <= MOST_SECONDS
    ):
        raise SettingsFault(
            "GATEWAY_MAX_BODY_BYTES and GATEWAY_BODY_WITHIN_S must be positive, GATEWAY_DRAIN_S not negative, "
            "and no time above an hour."
        )
    if settings.log_level not in ("debug", "info", "warning", "error"):
        raise SettingsFault("GATEWAY_LOG_LEVEL must be debug, info, warning or error.")
