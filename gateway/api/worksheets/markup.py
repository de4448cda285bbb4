"""HTML and SVG from calls, escaped unless it was made here. There is nothing to forget in a template."""

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

_VOID = frozenset({"input", "link", "meta"})


class Markup(str):
    """HTML already: it may stand in a page as it is. Joined with anything else it is a plain text again."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"
"""What may stand in an element: markup, a text, nothing, or several of these."""
Attribute = str | int | bool | None
"""True: the name alone. False and None: no such attribute."""


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """An element. Names of attributes have underscores for hyphens, and one at their end where Python needs it."""
    told = "".join(map(_attribute, attributes, attributes.values()))
    if name in _VOID:
        return Markup(f"<{name}{told}>")
    return Markup(f"<{name}{told}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Markup:
    """One after the other."""
    return Markup("".join(map(_rendered, children)))


def _rendered(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    return escape(child) if isinstance(child, str) else joined(*child)


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    written = name.rstrip("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{escape(str(value))}"'
