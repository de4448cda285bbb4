"""Fields: the schemas are up to date and really applied, and every field that is sent is read by some rule."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import msgspec

from adapters.policy import schemas
from adapters.policy.bundle import read_rules
from adapters.policy.command import compiled, run
from adapters.policy.modules import Module
from gateway.domain.fault import Fault

_FIELD = re.compile(r"^[^#\n]*?\b(?:input|data\.registry)\.\w+", re.MULTILINE)
_ROOTS = ("input.", "data.registry.")


def outdated_schemas(policies: Path) -> list[Fault]:
    """Schemas that are not what the structs say."""
    return [
        Fault(
            file=str(policies / "schemas" / name),
            line=0,
            path="",
            sentence="The schema is not the one of the structs that are sent.",
            remedy="Run: make schemas",
        )
        for name, text in schemas.generate().items()
        if _content(policies / "schemas" / name) != text
    ]


def uncaught_typos(policies: Path, opa: Path, allowed: Path) -> list[Fault]:
    """Whether ``opa check`` still catches a misspelt field: without the schemas it silently would not."""
    faults = []
    for root in _ROOTS:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(copytree(policies, Path(folder) / "policies"))
            if not _misspell(copy, root) or not compiled(copy, opa, allowed):
                sentence = f"A misspelt field of {root.rstrip('.')} would not be noticed."
                remedy = "See that policies/gateway/gateway.rego names both schemas for all packages below it."
                faults.append(Fault(str(policies / "gateway" / "gateway.rego"), 0, "", sentence, remedy))
    return faults


def unread_fields(policies: Path, opa: Path, modules: list[Module]) -> list[Fault]:
    """Fields of a question, or of what is sent of the registry, that no rule reads."""
    faults = []
    for entrypoint, question in schemas.QUESTIONS.items():
        read = set(_fields_read(policies, opa, entrypoint))
        faults += [
            _unread(policies, f"{entrypoint}/{field}") for field in question.__struct_fields__ if field not in read
        ]
    references = {names for module in modules for names in module.references}
    paths = {names[1:] for names in references if names[0] == "input"}
    known = {name for names in references for name in names}
    generated = {name: msgspec.json.decode(text) for name, text in schemas.generate().items()}
    for field in _leaves(generated["input.json"]):
        if not any(path[: len(field)] == field for path in paths):
            faults.append(_unread(policies, "/".join(field)))
    for field in _leaves(generated["registry.json"]):
        if not known.issuperset(set(field) - {"*"}):
            faults.append(_unread(policies, "/".join(("registry", *field))))
    return faults


def _unread(policies: Path, path: str) -> Fault:
    remedy = "Write the rule that needs it, or leave it out of the struct."
    return Fault(str(policies / "gateway"), 0, path, "No rule reads this field.", remedy)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _misspell(policies: Path, root: str) -> bool:
    """Drop the last letter of the first field that some rule reads below ``root``."""
    for name, text in read_rules(policies).items():
        for found in _FIELD.finditer(rule := text.decode()):
            if found.group().rpartition(".")[0].endswith(root.rstrip(".")):
                (policies / name).write_text(rule[: found.end() - 1] + rule[found.end() :], encoding="utf-8")
                return True
    return False


def _fields_read(policies: Path, opa: Path, entrypoint: str) -> Iterator[str]:
    """Fields of the question that the entrypoint depends on."""
    query = f"data.gateway.{entrypoint}.answer"
    options = ("--format", "json", "--ignore", "*_test.rego", "--data", str(policies / "gateway"))
    for base in msgspec.json.decode(run(opa, "deps", *options, query).out)["base"]:
        match [part["value"] for part in base]:
            case ["input", field, *_]:
                yield field


def _leaves(schema: Any) -> Iterator[tuple[str, ...]]:
    below = schema.get("properties") or ({"*": schema["items"]} if schema["type"] == "array" else {})
    for name, child in below.items():
        step = "*" if name == "_" else name
        if child["type"] in ("array", "object") and any(_leaves(child)):
            yield from ((step, *rest) for rest in _leaves(child))
        elif step != "*":
            yield (step,)
