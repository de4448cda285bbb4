"""The registry of the settings, or a refusal to start."""

from adapters import registry
from adapters.clock import SystemClock
from gateway.domain.errors import StartRefused
from gateway.domain.snapshot import Snapshot
from gateway.settings import Settings


def load_registry(settings: Settings, clock: SystemClock) -> Snapshot:
    """The registry as it stands.

    :raises StartRefused: with every fault, a line each.
    """
    loaded = registry.load(settings.registry_folder, at_us=clock.now_us())
    if isinstance(loaded, tuple):
        raise StartRefused("The registry has faults:\n" + "\n".join(str(fault) for fault in loaded))
    return loaded.snapshot
