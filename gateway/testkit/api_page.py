"""The tables of docs/api.md that the code knows better: every field of every body, and every refusal.

``python -m gateway.testkit.api_page`` writes them between their markers; tests/repository holds the page to them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from gateway.api.chat_body import INT64
from gateway.api.openapi_refusals import statuses
from gateway.domain.refusal import MEANINGS
from gateway.domain.registry import Id
from gateway.testkit.api_meanings import TABLES, Meanings

PAGE = Path("docs/api.md")

_QUERIES = ("keys", "sources", "search", "usage", "outcomes")
"""Tables of query parameters, which have no null."""

_ID = msgspec.json.schema(Id)["description"]

_NO_NEWLINE = r"(?!\n)"

_LARGE: Mapping[int, str] = {INT64: "2^63-1", -INT64 - 1: "-2^63", 2**53: "2^53"}


def render(page: str) -> str:
    """The page with its tables as the code has them.

    :raises ValueError: if the page lacks the markers of a table.
    """
    tables = {name: fields(kind, meanings) for name, (kind, meanings) in TABLES.items()}
    for name in _QUERIES:
        tables[name] = (row.replace("; or null", "") for row in tables[name])
    for name, lines in (tables | {"refusals": refusals()}).items():
        begin, end = f"<!-- {name}: written by make schemas -->", f"<!-- end of {name} -->"
        head, _, rest = page.partition(begin)
        _, found, tail = rest.partition(end)
        if not found:
            raise ValueError(f"The page needs the markers of {name}.")
        table = "\n".join(lines)
        page = f"{head}{begin}\n\n{table}\n\n{end}{tail}"
    return page


def write(root: Path) -> None:
    """Bring docs/api.md up to date."""
    path = root / PAGE
    path.write_text(render(path.read_text(encoding="utf-8")), encoding="utf-8")


def fields(kind: type[msgspec.Struct], meanings: Meanings) -> Iterator[str]:
    """Every field of a body or a query, with its type and range."""
    yield "| field | type and range | needed | meaning |"
    yield "|---|---|---|---|"
    schema = msgspec.json.schema(kind)
    yield from _fields([schema["$defs"][kind.__name__]], schema["$defs"], meanings, "")


def refusals() -> Iterator[str]:
    """Every code of refusal.py, in its order."""
    yield "| code | status | try again? | what it says | what to do |"
    yield "|---|---|---|---|---|"
    for code, meaning in MEANINGS.items():
        status = "; ".join(f"{number} {when}".rstrip() for number, when in statuses(code).items())
        retry = "yes" if meaning.retry else "no"
        yield f"| `{code}` | {status} | {retry} | {meaning.sentence} | {meaning.remedy} |"


def _fields(
    variants: Sequence[Mapping[str, Any]], definitions: Mapping[str, Any], meanings: Meanings, prefix: str
) -> Iterator[str]:
    """A row for each field of an object, or of the objects that one place may hold.

    What differs between these stands in a row of its own, which says of which of them it holds.
    """
    names = sorted(
        dict.fromkeys(name for variant in variants for name in variant["properties"]),
        key=lambda name: _merged_tags([one for one in variants if name in one["properties"]], name) is None,
    )
    for name in names:
        path = prefix + name
        having = [variant for variant in variants if name in variant["properties"]]
        rows: dict[tuple[str, str], list[str]] = {}
        for variant in having:
            words = _merged_tags(having, name) or _all_words(variant["properties"][name], definitions)
            needed = "yes" if name in variant.get("required", ()) else "no"
            rows.setdefault((words, needed), []).append(_tag(variant))
        for (words, needed), tags in rows.items():
            of = "" if len(tags) == len(variants) else f" of {', '.join(f'`{tag}`' for tag in dict.fromkeys(tags))}"
            yield f"| `{path}`{of} | {words} | {needed} | {meanings[path]} |"
        shapes = [shape for variant in having for shape in _shapes(variant["properties"][name], definitions)]
        for mark, below in (
            ("[].", [item for shape in shapes for item in _shapes(shape.get("items", {}), definitions)]),
            (".", shapes),
        ):
            # The same struct may stand in several of them.
            objects = {shape["title"]: shape for shape in below if "properties" in shape}
            if objects:
                yield from _fields(list(objects.values()), definitions, meanings, path + mark)


def _merged_tags(variants: Sequence[Mapping[str, Any]], name: str) -> str | None:
    """The words of a field that tells the variants apart: each of them has its own word there."""
    fields = [variant["properties"][name] for variant in variants]
    if len(fields) < 2 or any(list(field) != ["enum"] for field in fields):
        return None
    return ", ".join(f"`{value}`" for value in dict.fromkeys(value for field in fields for value in field["enum"]))


def _tag(variant: Mapping[str, Any]) -> str:
    """How a variant is called where it differs: by the one word of its tag."""
    tags = [field["enum"][0] for field in variant["properties"].values() if list(field) == ["enum"]]
    return str(tags[0]) if tags else str(variant["title"])


def _shapes(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What may stand in one place, each without its reference."""
    return [_resolved(shape, definitions) for shape in field.get("anyOf", [field])]


def _all_words(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    return "; or ".join(dict.fromkeys(_words(shape, definitions) for shape in _shapes(field, definitions)))


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference: str | None = schema.get("$ref")
    found: Mapping[str, Any] = definitions[reference.rpartition("/")[2]] if reference else schema
    return found


def _words(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    match schema.get("type", "any JSON"):
        case "string" if schema.get("format") == "date-time":
            return "time of RFC 3339 with its zone, such as `2027-01-31T00:00:00Z`"
        case "string" if "pattern" in schema and schema.get("description") == _ID:
            return "id"
        case "string" if "pattern" in schema and "description" in schema:
            return f"string, {schema['description'].removesuffix('.')}"
        case "string" if "pattern" in schema:
            # Without the guard against a trailing newline, which "$" of some dialects would let pass.
            return f"string, `{schema['pattern'].removesuffix(_NO_NEWLINE)}`"
        case "string":
            return f"string{_range(schema, 'minLength', 'maxLength', ' characters')}"
        case "array":
            items = _all_words(schema["items"], definitions)
            return f"array of {items}s{_range(schema, 'minItems', 'maxItems', ' items')}"
        case "integer" | "number" as kind:
            return f"{kind}{_range(schema, 'minimum', 'maximum', '')}"
        case kind:
            return str(kind)


def _range(schema: Mapping[str, Any], least: str, most: str, unit: str) -> str:
    low: Any = schema.get(least)
    high: Any = schema.get(most)
    if low is None and high is None:
        return ""
    if high is None:
        return f", at least {_number(low)}"
    if low is None:
        return f", at most {_number(high)}{unit}"
    return f", {_number(low)}{unit}" if low == high else f", {_number(low)} to {_number(high)}{unit}"


def _number(value: int) -> str:
    return _LARGE.get(value, str(value))


@click.command()
def main() -> None:
    """Write the tables of docs/api.md."""
    write(Path())


if __name__ == "__main__":
    main()
