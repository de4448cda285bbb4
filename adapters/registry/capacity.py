"""Does each self-hosted profile promise no more than the memory of its devices holds?

The judgement is the domain's (worksheets/capacity_check.py); here it gets the architecture that the profile names.
"""

from collections.abc import Iterator

from adapters.registry.architectures import FOLDER, Described
from adapters.registry.document import Path
from adapters.registry.draft import Draft, Entry
from adapters.registry.shared_engines import shared_engines
from gateway.domain.capacity import PlannedCapacity
from gateway.domain.fault import Fault
from gateway.domain.profile import Engine, Profile
from gateway.domain.worksheets.capacity_check import contradictions, excess

_ARCHITECTURE: Path = ("engine", "capacity", "architecture")


def capacity(draft: Draft) -> Iterator[Fault]:
    """Faults of the capacity blocks. A broken architecture is told once, and hides no other fault."""
    faulty: set[str] = set()
    for id_, entry in draft.profiles.items():
        if (engine := entry.value.engine) is not None and entry.value.kind == "self_hosted":
            found = list(_of_engine(draft, entry, engine))
            yield from found
            if found:
                faulty.add(id_)
    yield from shared_engines(draft, faulty)


def _of_engine(draft: Draft, entry: Entry[Profile], engine: Engine) -> Iterator[Fault]:
    found = list(contradictions(entry.value, engine))
    planned = engine.capacity
    if isinstance(planned, PlannedCapacity):
        described = _described(draft, entry, planned)
        if isinstance(described, Fault):
            yield described
        elif described is not None and not found:
            found += excess(entry.value, planned, engine, described.architecture)
    for one in found:
        yield entry.fault(one.path, one.sentence, one.remedy)


def _described(draft: Draft, entry: Entry[Profile], planned: PlannedCapacity) -> Described | Fault | None:
    """The architecture of a profile; None: its file is broken, which is told with the file."""
    name, _, digest = planned.architecture.partition("@")
    if name not in draft.architectures:
        remedy = f"Put the model's config.json there, as a file of the folder {FOLDER}, or mend the name."
        return entry.fault(_ARCHITECTURE, "There is no such architecture.", remedy)
    described = draft.architectures[name]
    if described is not None and described.digest != digest:
        sentence = "The architecture's file is not the one that the profile names."
        remedy = (
            f"Compare them; if the file is right, name it {name}@{described.digest}, and approve the profile again."
        )
        return entry.fault(_ARCHITECTURE, sentence, remedy)
    return described
