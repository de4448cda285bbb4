"""Structs: no field of a question, or of what is sent of the registry, is optional."""

import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from adapters.policy import schemas
from adapters.policy.registry_facts import RegistryFacts
from gateway.domain.fault import Fault

_OPEN = (msgspec.inspect.AnyType, msgspec.inspect.CustomType, msgspec.inspect.NoneType, msgspec.inspect.UnionType)


def optional_fields(
    structs: Iterable[type[msgspec.Struct]] = (*schemas.QUESTIONS.values(), RegistryFacts),
) -> list[Fault]:
    """Fields that may be missing, null or of several types: OPA checks nothing below those, and nothing of them."""
    return sorted({fault for struct in structs for fault in _of_struct(msgspec.inspect.type_info(struct))})


def _of_struct(found: msgspec.inspect.Type) -> Iterator[Fault]:
    if not isinstance(found, msgspec.inspect.StructType):
        return
    for field in found.fields:
        inner = list(_below(field.type))
        if not field.required or any(isinstance(one, _OPEN) for one in inner):
            yield _fault(found.cls, field.name)
        for one in inner:
            yield from _of_struct(one)


def _below(found: msgspec.inspect.Type) -> Iterator[msgspec.inspect.Type]:
    """The type itself and those of its items."""
    yield found
    for name in ("item_type", "key_type", "value_type"):
        if inner := getattr(found, name, None):
            yield from _below(inner)
    for inner in getattr(found, "item_types", ()):
        yield from _below(inner)


def _fault(struct: type, field: str) -> Fault:
    lines, first = inspect.getsourcelines(struct)
    row = next((row for row, text in enumerate(lines, first) if text.strip().startswith(f"{field}:")), first)
    sentence = f"no-optional-fields: {struct.__name__}.{field} may be missing or of several types."
    remedy = "Give it one type and no default; an empty text or an empty list says that there is none."
    return Fault(str(_shown(Path(inspect.getfile(struct)))), row, "", sentence, remedy)


def _shown(path: Path) -> Path:
    """As seen from the working folder, if it lies below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
