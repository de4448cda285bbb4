"""Strict YAML: whatever two people, or two parsers, could read differently is refused.

Scalars follow the core schema of YAML 1.2, narrowed to ``true``, ``false`` and ``null`` in lower case, so that
``NO``, ``off`` and ``1:30`` are strings, and to decimal numbers without leading zeros. Keys are unique strings. There
are no anchors, aliases, merge keys, tags, directives or second documents. No value of the file is ever part of a fault.
"""

import math
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from adapters.registry.document import Document, Path
from adapters.registry.raw_text import lines_with_secrets, misleading
from gateway.domain.fault import Fault

MAX_BYTES = 4 * 2**20
MAX_DEPTH = 32
_MAX_DIGITS = 20

_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_NOT_DECIMAL = re.compile(r"[-+]?0[0-9][0-9.eE+-]*|[-+]?0o[0-7]+|[-+]?0x[0-9a-fA-F]+")
"""Other parsers, and people, read another number."""
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def read(path: pathlib.Path) -> Document | tuple[Fault, ...]:
    """One file as a document, or all that is wrong with it as YAML."""
    file = str(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return (_whole(file, "The file is missing.", "Add it."),)
    except OSError:
        return (_whole(file, "The file cannot be read.", "Check that it is a file and who may read it."),)
    document = parse(data, file)
    if isinstance(document, Document) and not data.endswith(b"\n"):
        line = data.count(b"\n") + 1
        remedy = "Write it again as a whole; the last line ends with a line break too."
        return (Fault(file=file, line=line, path="", sentence="The file may have been cut off.", remedy=remedy),)
    return document


def parse(data: bytes, file: str) -> Document | tuple[Fault, ...]:
    """The same for bytes that are already here."""
    if len(data) > MAX_BYTES:
        return (_whole(file, "The file is larger than 4 MiB.", "Make it smaller."),)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as broken:
        line = data.count(b"\n", 0, broken.start) + 1
        return (Fault(file=file, line=line, path="", sentence="The file is not UTF-8.", remedy="Save it as UTF-8."),)
    if found := tuple(misleading(text, file)):
        return found
    reader = _Reader(text, file)
    try:
        value = reader.document()
    except yaml.YAMLError as broken:
        reader.faults.append(_broken(broken, data, file))
        value = None
    secrets = frozenset(lines_with_secrets(text))
    return tuple(reader.faults) or Document(file=file, value=value, lines=reader.lines, secret_lines=secrets)


class _Reader:
    """Builds the value from the parser's events; goes on after a fault, so that one run shows them all."""

    def __init__(self, text: str, file: str) -> None:
        self._events: Iterator[Event] = iter(yaml.parse(text, Loader=yaml.CSafeLoader))
        self._file = file
        self.lines: dict[Path, int] = {}
        self.faults: list[Fault] = []

    def document(self) -> Any:
        next(self._events)  # the start of the stream
        start = next(self._events)
        if isinstance(start, StreamEndEvent):
            self._refuse((), 0, "The file is empty.", "Write the object, or remove the file.")
            return None
        if isinstance(start, DocumentStartEvent) and (start.version or start.tags):
            self._refuse((), _line(start), "The file has a YAML directive.", "Remove the line that starts with %.")
        value = self._node(next(self._events), ())
        if not isinstance(value, dict) and not self.faults:
            self._refuse((), 1, "The file does not hold a mapping.", "Write keys with values.")
        while not isinstance(event := next(self._events), StreamEndEvent):
            if not isinstance(event, DocumentEndEvent):
                self._refuse((), _line(event), "The file holds a second document.", "Remove the line ---.")
                break
        return value

    def _node(self, event: Event, path: Path, line: int | None = None) -> Any:
        own = _line(event)
        self.lines[path] = own if line is None or isinstance(event, ScalarEvent) else line
        if isinstance(event, NodeEvent) and event.anchor is not None:
            self._refuse(path, own, "Anchors and aliases are not allowed.", "Write the value out.")
        if isinstance(event, AliasEvent):
            return None
        if getattr(event, "tag", None) is not None:
            self._refuse(path, own, "Tags are not allowed.", "Remove the ! and the word after it.")
        if isinstance(event, ScalarEvent):
            return self._scalar(event, path)
        if len(path) >= MAX_DEPTH:
            self._skip()
            self._refuse(path, own, "The file is nested too deeply.", f"At most {MAX_DEPTH} levels are read.")
            return None
        return self._mapping(path) if isinstance(event, MappingStartEvent) else self._sequence(path)

    def _sequence(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            items.append(self._node(event, (*path, len(items))))
        return items

    def _mapping(self, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            key, line = self._key(event, path), _line(event)
            if key in found:
                first = self.lines[(*path, key)]
                self._refuse((*path, key), line, "The key is given twice.", f"Keep one; the first is in line {first}.")
            value = self._node(next(self._events), (*path, key), line)
            found.setdefault(key, value)
        return found

    def _key(self, event: Event, path: Path) -> str:
        if not isinstance(event, ScalarEvent):
            if isinstance(event, CollectionStartEvent):
                self._skip()
            self._refuse(path, _line(event), "A key is not a plain word.", "Write a word before the colon.")
            return ""
        plain = event.implicit[0]
        if plain and event.value == "<<":
            self._refuse(path, _line(event), "Merge keys are not allowed.", "Write the keys out.")
        elif event.anchor is not None or event.tag is not None:
            self._refuse(path, _line(event), "A key carries an anchor or a tag.", "Write the word alone.")
        elif plain and (_NOT_DECIMAL.fullmatch(event.value) or not isinstance(_resolve(event.value), str)):
            self._refuse(path, _line(event), "A key is not a string.", "Put the key in quotes.")
        return event.value

    def _scalar(self, event: ScalarEvent, path: Path) -> Any:
        if event.implicit[0] and _NOT_DECIMAL.fullmatch(event.value):
            remedy = "Write it without leading zeros, in decimal; put it in quotes if it is a name."
            self._refuse(path, _line(event), "The number is not a plain decimal one.", remedy)
            return None
        value = _resolve(event.value) if event.implicit[0] else event.value
        if isinstance(value, float) and not math.isfinite(value):
            self._refuse(path, _line(event), "The number is too large to be kept.", "Write a finite, shorter number.")
        return value

    def _skip(self) -> None:
        depth = 1
        while depth:
            event = next(self._events)
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)

    def _refuse(self, path: Path, line: int, sentence: str, remedy: str) -> None:
        found = Document(file=self._file, value=None, lines={path: line}).fault(path, sentence, remedy)
        self.faults.append(found)


def _resolve(text: str) -> str | int | float | bool | None:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        if len(text) > _MAX_DIGITS:
            return math.inf
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _NOT_FINITE.fullmatch(text):
        return math.nan
    return text


def _line(event: Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0


def _broken(broken: yaml.YAMLError, data: bytes, file: str) -> Fault:
    """libyaml's own words: constants of the C library, which never quote the file (unlike PyYAML's Python parser)."""
    if isinstance(broken, yaml.MarkedYAMLError) and broken.problem_mark is not None:
        line, why = broken.problem_mark.line + 1, broken.problem
    else:
        line = data.count(b"\n", 0, getattr(broken, "position", 0)) + 1
        why = getattr(broken, "reason", None)
    remedy = f"Mend the syntax here or just above: {why or 'unreadable'}."
    return Fault(file=file, line=line, path="", sentence="The file is not valid YAML.", remedy=remedy)


def _whole(file: str, sentence: str, remedy: str) -> Fault:
    return Fault(file=file, line=0, path="", sentence=sentence, remedy=remedy)
