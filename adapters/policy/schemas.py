"""Schemas for ``opa check --schema``, generated from the structs that are really sent.

A map becomes ``{"properties": {"_": V}, "additionalProperties": false}``: OPA ignores a schema under
``additionalProperties``, and an open map would let every misspelt field below it through.
"""

from pathlib import Path
from typing import Any

import msgspec

from adapters.policy.registry_facts import RegistryFacts
from gateway.domain.questions import AccessQuestion, OperateQuestion, ReplayQuestion, RoutesQuestion, VisibleQuestion

QUESTIONS: dict[str, type[msgspec.Struct]] = {
    "access": AccessQuestion,
    "routes": RoutesQuestion,
    "replay": ReplayQuestion,
    "visible": VisibleQuestion,
    "operate": OperateQuestion,
}


def generate() -> dict[str, bytes]:
    """Text of each schema file by its name in policies/schemas."""
    documents = {"input.json": _questions(), "registry.json": _schema(RegistryFacts)}
    return {name: _text(document) for name, document in documents.items()}


def write(policies: Path) -> None:
    """Bring policies/schemas up to date."""
    folder = policies / "schemas"
    folder.mkdir(exist_ok=True)
    for name, text in generate().items():
        (folder / name).write_bytes(text)


def _questions() -> dict[str, Any]:
    """All fields of all questions: one rule may serve several of them."""
    fields: dict[str, Any] = {}
    for question in QUESTIONS.values():
        for name, schema in _schema(question)["properties"].items():
            if fields.setdefault(name, schema) != schema:
                raise TypeError(f"The field {name} has another type in another question.")
    return {"type": "object", "properties": fields, "additionalProperties": False}


def _schema(struct: type[msgspec.Struct]) -> dict[str, Any]:
    root = msgspec.json.schema(struct)
    closed: dict[str, Any] = _closed(root, root["$defs"])
    return closed


def _closed(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if reference := schema.get("$ref"):
        return _closed(definitions[reference.rpartition("/")[2]], definitions)
    if "enum" in schema:
        return {"type": "string"}  # OPA does not look at the words themselves
    if schema["type"] == "array":
        return {"type": "array", "items": _closed(schema["items"], definitions)}
    if schema["type"] != "object":
        return {"type": schema["type"]}
    fields = schema.get("properties") or {"_": schema["additionalProperties"]}
    properties = {name: _closed(field, definitions) for name, field in fields.items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _text(document: dict[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
