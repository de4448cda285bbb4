"""JSON Schemas (draft 2020-12) generated from the domain's structs, for editors and for the shape check."""

import functools
import json
import pathlib
from typing import Any

import msgspec

from adapters.registry.kinds import KINDS, SCHEMAS, Kind, is_registry
from gateway.domain.fault import Fault

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REMEDY = "Run: make schemas."


@functools.cache
def schema_of(kind: Kind) -> dict[str, Any]:
    """The schema of a kind. Every object in it is closed, because every struct is."""
    return {"$schema": DIALECT, **msgspec.json.schema(kind.struct)}


def write_schemas(directory: pathlib.Path) -> None:
    """Write the schemas of all kinds into ``directory/schemas``."""
    folder = directory / SCHEMAS
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in _texts().items():
        (folder / name).write_text(text, encoding="utf-8")


def stale_schemas(directory: pathlib.Path) -> list[Fault]:
    """A fault for each file in ``directory/schemas`` that is missing, differs, or belongs to no kind.

    None where there is no registry, which ``load`` tells.
    """
    if not is_registry(directory):
        return []
    folder = directory / SCHEMAS
    texts = _texts()
    present = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    faults = [
        Fault(file=str(folder / name), line=0, path="", sentence="No kind has this schema.", remedy="Remove the file.")
        for name in sorted(present - texts.keys())
    ]
    for name, text in texts.items():
        if name not in present:
            sentence = "The generated schema is missing."
        elif not (folder / name).is_file() or (folder / name).read_bytes() != text.encode():
            sentence = "The schema differs from the one that the structs generate."
        else:
            continue
        faults.append(Fault(file=str(folder / name), line=0, path="", sentence=sentence, remedy=_REMEDY))
    return sorted(faults)


def _texts() -> dict[str, str]:
    return {
        f"{kind.name}.schema.json": json.dumps(schema_of(kind), indent=2, ensure_ascii=False) + "\n" for kind in KINDS
    }
