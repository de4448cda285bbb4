"""The files of a registry, each read and shaped; not yet checked against each other."""

import pathlib
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from adapters.registry import architectures, kinds, yaml_text
from adapters.registry.architectures import Described
from adapters.registry.document import Document, Path
from adapters.registry.kinds import KINDS, SCHEMAS, Kind
from adapters.registry.shape import faults_of_shape
from gateway.domain.bundle import Bundle
from gateway.domain.fault import Fault
from gateway.domain.profile import Profile
from gateway.domain.registry import Credential, Currency, Privacy, Purpose, QuotaScope, Releases
from gateway.domain.tenant import Tenant

T = TypeVar("T")


class Entry(Struct, Generic[T], frozen=True):
    """An object with the document that it came from, so that a fault can name its line."""

    value: T
    document: Document

    def fault(self, path: Path, sentence: str, remedy: str) -> Fault:
        return self.document.fault(path, sentence, remedy)


class Draft(Struct, frozen=True, kw_only=True):
    """Objects by id. One whose file is broken is missing here, but not from ``names``."""

    currency: Entry[Currency] | None
    privacy: Entry[Privacy] | None
    releases: Entry[Releases] | None
    purposes: Mapping[str, Entry[Purpose]]
    tenants: Mapping[str, Entry[Tenant]]
    credentials: Mapping[str, Entry[Credential]]
    quota_scopes: Mapping[str, Entry[QuotaScope]]
    profiles: Mapping[str, Entry[Profile]]
    bundles: Mapping[str, Entry[Bundle]]
    architectures: Mapping[str, Described | None]
    """By the file's name; None: it is broken."""
    names: Mapping[str, frozenset[str]]
    """By the kind's name, the ids of all files, so that one broken file does not break every reference to it."""


def read_draft(directory: pathlib.Path) -> tuple[Draft, list[Fault]]:
    """Read every file; what has a fault is left out of the draft."""
    faults = _strays(directory)
    entries: dict[Kind, dict[str, Entry[Any]]] = {}
    for kind in KINDS:
        entries[kind] = {}
        for path in _files(directory, kind):
            entry = read_entry(path, kind)
            if isinstance(entry, Entry):
                entries[kind][path.stem] = entry
            else:
                faults.extend(entry)
    if not _files(directory, kinds.TENANT):
        folder = str(directory / kinds.TENANT.place)
        faults.append(Fault(folder, 0, "", "The registry has no tenant.", "Add the file tenants/ID.yaml."))
    described = {path.name: architectures.read(path) for path in architectures.files(directory)}
    faults += [found for found in described.values() if isinstance(found, Fault)]
    draft = Draft(
        currency=next(iter(entries[kinds.CURRENCY].values()), None),
        privacy=next(iter(entries[kinds.PRIVACY].values()), None),
        releases=next(iter(entries[kinds.RELEASES].values()), None),
        purposes=entries[kinds.PURPOSE],
        tenants=entries[kinds.TENANT],
        credentials=entries[kinds.CREDENTIAL],
        quota_scopes=entries[kinds.QUOTA_SCOPE],
        profiles=entries[kinds.PROFILE],
        bundles=entries[kinds.BUNDLE],
        architectures={name: None if isinstance(found, Fault) else found for name, found in described.items()},
        names={kind.name: frozenset(path.stem for path in _files(directory, kind)) for kind in KINDS},
    )
    return draft, faults


def read_entry(path: pathlib.Path, kind: Kind) -> Entry[Any] | list[Fault]:
    """One object of a kind, or every fault of its file."""
    document = yaml_text.read(path)
    if not isinstance(document, Document):
        return list(document)
    if faults := faults_of_shape(kind, document):
        return faults
    entry: Entry[Any] = Entry(msgspec.convert(document.value, kind.struct), document)
    if kind.many and entry.value.id != path.stem:
        return [entry.fault(("id",), "The id differs from the name of the file.", "Rename the file to the id.")]
    return entry


def _files(directory: pathlib.Path, kind: Kind) -> list[pathlib.Path]:
    if not kind.many:
        return [kind.path(directory)]
    return sorted(path for path in (directory / kind.place).glob("*.yaml") if _is_plain(path))


def _strays(directory: pathlib.Path) -> list[Fault]:
    """What lies in the registry and belongs to no kind would look configured and do nothing.

    A link could show something else to the gateway than to whoever reviews it.
    """
    folders = {kind.place for kind in KINDS if kind.many}
    files = {kind.place for kind in KINDS if not kind.many}
    strays: list[pathlib.Path] = []
    for path in sorted(directory.iterdir()):
        if path.name == SCHEMAS and path.is_dir():
            continue
        if path.name == architectures.FOLDER and path.is_dir():
            strays += [inner for inner in path.iterdir() if not architectures.has_place(inner)]
        elif path.name in folders and path.is_dir():
            strays += [inner for inner in path.iterdir() if inner.suffix != ".yaml" or not _is_plain(inner)]
        elif path.name not in files:
            strays.append(path)
    links = [path for path in sorted(directory.rglob("*")) if path.is_symlink()]
    instead = "Put the file or the folder itself here, or delete the link."
    remove = "Remove it, or name it KIND/ID.yaml in one of its folders; architectures end in .json."
    return [
        *(_stray(path, "This is a link.", instead) for path in links),
        *(_stray(path, "This has no place in the registry.", remove) for path in strays if not path.is_symlink()),
    ]


def _is_plain(path: pathlib.Path) -> bool:
    """A file that shows in a listing. A link is read too, so that it makes one fault and not one for each reference."""
    return path.is_file() and not path.name.startswith(".")


def _stray(path: pathlib.Path, sentence: str, remedy: str) -> Fault:
    return Fault(file=str(path), line=0, path="", sentence=sentence, remedy=remedy)
