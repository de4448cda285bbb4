"""Does a document have the shape of its kind? All faults at once, in words, without any value of the file."""

import difflib
import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from adapters.registry.document import Document, Path
from adapters.registry.kinds import Kind
from adapters.registry.schemas import schema_of
from adapters.registry.secret_shapes import has_known_shape, is_dense
from adapters.registry.unseen import has_unseen
from gateway.domain.fault import Fault

_extend: Any = extend  # its types are not annotated
# Draft 2020-12 counts 1.0 as an integer, the structs do not.
_Validator = _extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int),
)

# Digests, commits and model files are long and random by nature; there only well-known shapes of secrets count.
_RANDOM_BY_NATURE = frozenset(
    {"accepted_models", "architecture", "digest", "evidence", "method", "model", "model_file", "prompt_template_digest"}
    | {"engine_version", "revision", "rules_revision", "suite_digest", "version"}
)
_TYPES = {
    "array": ("a list", "Write a list, each item behind a dash."),
    "boolean": ("true or false", "Write true or false; yes, no, on and off are strings."),
    "integer": ("a whole number", "Write a whole number without quotes."),
    "null": ("null", "Write null."),
    "number": ("a number", "Write a number without quotes."),
    "object": ("a mapping", "Write keys with values."),
    "string": ("a string", "Write a string; put it in quotes if it is a number, true, false or null."),
}
_LIMITS = {
    "minimum": "The number is too small.",
    "maximum": "The number is too large.",
    "minLength": "The text is too short.",
    "maxLength": "The text is too long.",
    "minItems": "The list is too short.",
    "minProperties": "The mapping is too short.",
}


def faults_of_shape(kind: Kind, document: Document) -> list[Fault]:
    """Everything that keeps the document from being an object of this kind."""
    secrets = {path for path, text, field in _strings(document.value) if _looks_like_secret(text, field)}
    told = [
        document.fault(path, "This looks like a secret.", "Name where the secret lies, and replace the secret itself.")
        for path in secrets
    ]
    told += [
        Fault(document.file, line, "", "The line looks like it holds a secret.", "Take it out, and replace the secret.")
        for line in document.secret_lines - {document.line(path) for path in secrets}
    ]
    told += [
        document.fault(path, "This holds a character that nobody sees.", "Type the text again, without copying it.")
        for path, text, _ in _strings(document.value)
        if has_unseen(text)
    ]
    told += [document.fault(path, "The list names this twice.", "Keep one of them.") for path in _twice(document.value)]
    for error in _validator(kind).iter_errors(document.value):
        for leaf in _leaves(error):
            told += [document.fault(*words) for words in _words(leaf) if words[0] not in secrets]
    return sorted(set(told))


@functools.cache
def _validator(kind: Kind) -> Any:
    return _Validator(schema_of(kind), format_checker=Draft202012Validator.FORMAT_CHECKER)


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """The errors of the one branch of ``anyOf`` that was meant, else the error itself."""
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    tag = _tag_field(error)
    meant = [errors for errors in branches.values() if not any(_of_another_type(e, tag) for e in errors)]
    if len(meant) == 1:
        for inner in meant[0]:
            yield from _leaves(inner)
    else:
        yield error


def _of_another_type(error: ValidationError, tag: str | None) -> bool:
    if tag is not None and list(error.relative_path) == [tag]:
        return True
    return error.validator in {"type", "enum"} and not error.relative_path


def _tag_field(error: ValidationError) -> str | None:
    """The key by whose word the branches of ``anyOf`` are told apart, where there is one."""
    schema: Any = error.schema
    return schema.get("discriminator", {}).get("propertyName") if isinstance(schema, Mapping) else None


def _words(error: ValidationError) -> Iterator[tuple[Path, str, str]]:
    """Place, sentence and remedy of an error."""
    place: Path = tuple(error.absolute_path)
    rule: Any = error.validator_value
    instance: Any = error.instance
    schema: Mapping[str, Any] = error.schema if isinstance(error.schema, Mapping) else {}
    about = schema.get("description", "")
    match error.validator:
        case "additionalProperties":
            known = sorted(schema["properties"])
            for key in instance.keys() - known:
                yield (*place, key), "This key is not known.", _nearest(key, known)
        case "required":
            for key in sorted(set(rule) - instance.keys()):
                about = schema["properties"][key].get("description", "")
                yield place, f"The key {key} is missing.", f"Add it. {about}".strip()
        case "type":
            name, remedy = _TYPES[rule]
            yield place, f"This is not {name}.", remedy
        case "enum":
            yield place, "This is none of the words that are allowed here.", f"Use one of: {', '.join(rule)}."
        case "pattern" if "propertyNames" in error.absolute_schema_path:
            yield (*place, instance), "This key does not have the form that is needed.", about
        case "pattern" | "format":
            yield place, "This does not have the form that is needed.", about
        case "anyOf":
            yield _no_branch(error, place)
        case limit:
            yield place, _LIMITS[str(limit)], f"The bound is {rule}. {about}".strip()


def _no_branch(error: ValidationError, place: Path) -> tuple[Path, str, str]:
    """Words for a value that is of no branch of ``anyOf``."""
    tag = _tag_field(error)
    if tag is None or not isinstance(error.instance, dict):
        branches: Any = error.validator_value
        return place, "This has none of the forms that are allowed here.", f"Write {_either(branches)}."
    schema: Any = error.schema
    words = ", ".join(schema["discriminator"]["mapping"])
    if tag in error.instance:
        return (*place, tag), "This is none of the words that are allowed here.", f"Use one of: {words}."
    return place, f"The key {tag} is missing.", f"Add it, with one of: {words}."


def _nearest(key: str, known: list[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f"The nearest known key is {near[0]}." if near else f"Known here are: {', '.join(known)}."


def _either(branches: Iterable[Mapping[str, Any]]) -> str:
    words = [", ".join(b["enum"]) if "enum" in b else _TYPES[b.get("type", "object")][0] for b in branches]
    return " or ".join(dict.fromkeys(words))


def _strings(value: Any, path: Path = (), field: str = "") -> Iterator[tuple[Path, str, str]]:
    """Every string with its place and the nearest key above it."""
    if isinstance(value, str):
        yield path, value, field
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(inner, (*path, key), key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _strings(inner, (*path, index), field)


def _looks_like_secret(text: str, field: str) -> bool:
    return has_known_shape(text) or (field not in _RANDOM_BY_NATURE and is_dense(text))


def _twice(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every list of the registry that holds plain values is a set, ordered or not."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _twice(inner, (*path, key))
    elif isinstance(value, list):
        seen: set[tuple[type, Any]] = set()
        for index, inner in enumerate(value):
            yield from _twice(inner, (*path, index))
            if not isinstance(inner, dict | list):
                if (type(inner), inner) in seen:
                    yield (*path, index)
                seen.add((type(inner), inner))
