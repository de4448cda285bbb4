"""The page as a tree, so that tests look at elements and never at strings."""

from collections.abc import Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from urllib.parse import urlencode

from api_support import Api, Reply
from msgspec import Struct

from gateway.domain.worksheets.catalogue import WORKSHEETS

VOID = frozenset({"input", "link", "meta"})
HTML = [("Accept", "text/html")]
JSON = [("Accept", "application/json")]
COST = {"currency": "EUR", "input_tokens": "1000", "output_tokens": "300", "input_price": "0.5", "output_price": "1.5"}
COST |= {"device_hour": "10", "requests_per_s": "20", "utilisation": "0.5"}
ENTRIES: Mapping[str, Mapping[str, str]] = {"memory": {}, "latency": {}, "cost": COST}
"""With which each worksheet computes."""


class Element(Struct):
    """An element with what is in it."""

    name: str
    attributes: dict[str, str]
    children: list["Element | str"] = []

    def all(self, name: str = "", /, **attributes: str) -> Iterator["Element"]:
        """Itself and everything below that is called so and has these attributes."""
        wanted = {key.rstrip("_").replace("_", "-"): text for key, text in attributes.items()}
        if name in ("", self.name) and wanted.items() <= self.attributes.items():
            yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.all(name, **attributes)

    def one(self, name: str = "", /, **attributes: str) -> "Element":
        (found,) = self.all(name, **attributes)
        return found

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute twice: {tag} {attrs}"
        element = Element(tag, {name: text or "" for name, text in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"{tag} ends within {self.open[-1].name}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def tree(reply: Reply) -> Element:
    """Of a page; every element must be closed where it should."""
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    reader = _Reader()
    reader.feed(reply.body.decode())
    reader.close()
    assert len(reader.open) == 1, "something is not closed"
    return reader.open[0]


@cache
def _api() -> Api:
    # One for all: the page keeps nothing between two requests.
    return Api()


def asked(method: str, target: str, headers: list[tuple[str, str]] = HTML, body: bytes = b"") -> Reply:
    """Any request."""
    return _api().request(method, target, headers, body)


def got(worksheet: str, entries: Mapping[str, str] | str = "", headers: list[tuple[str, str]] = HTML) -> Reply:
    """GET a worksheet with entries, or with a query as it is."""
    query = entries if isinstance(entries, str) else urlencode(entries)
    return asked("GET", f"/worksheets/{worksheet}" + (f"?{query}" if query else ""), headers)


def posted(worksheet: str, entries: Mapping[str, str] | bytes, headers: list[tuple[str, str]] = HTML) -> Reply:
    """POST a form, or a body as it is."""
    body = entries if isinstance(entries, bytes) else urlencode(entries).encode()
    return asked("POST", f"/worksheets/{worksheet}", headers, body)


def field_names() -> list[tuple[str, str]]:
    """Every field of every worksheet."""
    return [(name, field.name) for name, worksheet in WORKSHEETS.items() for field in worksheet.fields]
