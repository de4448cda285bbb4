"""The tables of docs/api.md that the code knows better: every field of every body, and every refusal.

``python -m gateway.testkit.api_page`` writes them between their markers; tests/repository holds the page to them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from gateway.api.admin import EvidenceBody, ReasonBody, SearchQuery
from gateway.api.admin_keys import KeysQuery, NewKeyBody
from gateway.api.admin_ledger import UsageQuery
from gateway.api.admin_sources import GrantBody, RevokeBody, SourcesQuery, WithdrawBody
from gateway.api.chat_body import INT64, ChatBody
from gateway.domain.refusal import MEANINGS, Code
from gateway.domain.registry import Id

PAGE = Path("docs/api.md")

Meanings = Mapping[str, str]
"""What each field means, by its path. A field without an entry stops the generator."""

_CHAT: Meanings = {
    "model": "The alias that a release pointer resolves to a bundle. Never a profile or a provider.",
    "messages": "The conversation, in order.",
    "max_tokens": "Cap on the output, at most the profile's maximum. Left out, that maximum is reserved and sent.",
    "max_completion_tokens": "Another name of `max_tokens`. Both at once are refused.",
    "temperature": "Passed on.",
    "top_p": "Passed on.",
    "stop": "Passed on. A single string is a list of one; an empty one is refused.",
    "seed": "Passed on.",
    "n": "One completion is what is reserved, so one is what there is.",
    "stream": "`true` is refused as `stream_unsupported`.",
    "gateway": "The gateway's own part. Nothing in it names a destination.",
    "gateway.purpose": "A purpose of the tenant. Left out, the tenant's default purpose counts.",
    "gateway.sources": "What the prompt was built from: the calling service's claim. No source twice.",
    "gateway.sources[].id": "The source.",
    "gateway.sources[].revision": "Its revision; another one than the one in force is forbidden.",
}
_NEW_KEY: Meanings = {
    "tenant": "A tenant of the registry.",
    "principal": "A service account of that tenant.",
    "label": "What the key is for, to tell several apart.",
}
_KEYS: Meanings = {
    "tenant": "Of this tenant only.",
    "principal": "Of service accounts of this id only.",
    "active": "`true`: only keys that count. `false`: only revoked ones.",
    "before": "Only keys older than this one: the last `id` of the page before.",
    "limit": "How many at most; left out, 50.",
}
_GRANT: Meanings = {
    "id": "The source, as requests cite it.",
    "tenant": "The tenant of the registry that it belongs to, for good.",
    "groups": "Who may read it. Groups of earlier grants stay.",
    "revision": "The revision that is in force from now on.",
    "privacy_class": "A class of the registry.",
    "released": "End of an embargo. Left out, there is none, and an earlier one is lifted.",
    "as_of": "When its owner confirmed all of this, not in the future. Left out, now.",
}
_REVOKE: Meanings = {
    "id": "The source.",
    "groups": "To whom it is closed. Left out or empty: to all.",
}
_WITHDRAW: Meanings = {"id": "The source whose revision is taken back for good."}
_SOURCES: Meanings = {
    "tenant": "Of this tenant only.",
    "group": "Open to this group only.",
    "withdrawn": "`true`: only withdrawn ones. `false`: only the others.",
    "after": "Only sources after this one: the last `id` of the page before.",
    "limit": "How many at most; left out, 50.",
}
_SEARCH: Meanings = {
    "state": "State of the last attempt.",
    "tenant": "Of this tenant only.",
    "profile": "Whose last attempt went to this profile.",
    "before": "Only operations older than this one: the last `id` of the page before.",
    "limit": "How many at most; left out, 50.",
}
_USAGE: Meanings = {
    "tenant": "Of this tenant.",
    "profile": "Of this profile.",
    "quota_scope": "Of this quota scope.",
}
_REASON: Meanings = {"reason": "Why. Kept for good in the audit and as evidence."}
_EVIDENCE: Meanings = {
    "evidence": "What was found at the provider, and where. Kept for good in the audit and as evidence.",
    "found": "`no_effect`: it was never executed. `charged`: it was, and the answer is lost.",
    "used": "What the evidence proves was used: with `charged`, and never with `no_effect`.",
    "used.input": "Tokens.",
    "used.output": "Tokens.",
}

_TABLES: Mapping[str, tuple[type[msgspec.Struct], Meanings]] = {
    "fields": (ChatBody, _CHAT),
    "new key": (NewKeyBody, _NEW_KEY),
    "keys": (KeysQuery, _KEYS),
    "grant": (GrantBody, _GRANT),
    "revoke": (RevokeBody, _REVOKE),
    "withdraw": (WithdrawBody, _WITHDRAW),
    "sources": (SourcesQuery, _SOURCES),
    "search": (SearchQuery, _SEARCH),
    "reason": (ReasonBody, _REASON),
    "evidence": (EvidenceBody, _EVIDENCE),
    "usage": (UsageQuery, _USAGE),
}
"""Tables of fields, by the name in their markers."""
_QUERIES = ("keys", "sources", "search", "usage")
"""Tables of query parameters, which have no null."""

_STATUS: Mapping[Code, str] = {
    Code.INVALID_VALUE: "400; 422 out of range",
    Code.OUTCOME_UNKNOWN: "502; 504 at the deadline; 409 later",
}
"""Codes with more than one status (gateway/domain/refusal.py says when)."""

_ID = msgspec.json.schema(Id)["description"]

_LARGE: Mapping[int, str] = {INT64: "2^63-1", -INT64 - 1: "-2^63", 2**53: "2^53"}


def render(page: str) -> str:
    """The page with its tables as the code has them.

    :raises ValueError: if the page lacks the markers of a table.
    """
    tables = {name: fields(kind, meanings) for name, (kind, meanings) in _TABLES.items()}
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
    yield from _fields(schema["$defs"][kind.__name__], schema["$defs"], meanings, "")


def refusals() -> Iterator[str]:
    """Every code of refusal.py, in its order."""
    yield "| code | status | try again? | what it says | what to do |"
    yield "|---|---|---|---|---|"
    for code, meaning in MEANINGS.items():
        status = _STATUS.get(code, str(meaning.status))
        retry = "yes" if meaning.retry else "no"
        yield f"| `{code}` | {status} | {retry} | {meaning.sentence} | {meaning.remedy} |"


def _fields(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], meanings: Meanings, prefix: str
) -> Iterator[str]:
    for name, field in schema["properties"].items():
        path = prefix + name
        shapes = [_resolved(shape, definitions) for shape in field.get("anyOf", [field])]
        words = [_words(shape, definitions) for shape in shapes]
        needed = "yes" if name in schema.get("required", ()) else "no"
        yield f"| `{path}` | {'; or '.join(words)} | {needed} | {meanings[path]} |"
        for shape in shapes:
            items = _resolved(shape.get("items", {}), definitions)
            if "properties" in items:
                yield from _fields(items, definitions, meanings, f"{path}[].")
            if "properties" in shape:
                yield from _fields(shape, definitions, meanings, f"{path}.")


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference: str | None = schema.get("$ref")
    found: Mapping[str, Any] = definitions[reference.rpartition("/")[2]] if reference else schema
    return found


def _words(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    match schema["type"]:
        case "string" if schema.get("format") == "date-time":
            return "time of RFC 3339 with its zone, such as `2027-01-31T00:00:00Z`"
        case "string" if "pattern" in schema and schema.get("description") == _ID:
            return "id"
        case "string":
            return f"string{_range(schema, 'minLength', 'maxLength', ' characters')}"
        case "array":
            items = _words(_resolved(schema["items"], definitions), definitions)
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
