"""Texts that somebody else chose, printed so that they change nothing in a terminal."""

import shlex
from typing import Any

import click
import msgspec


def visible(text: str) -> str:
    """A text of one line: what cannot be seen, and what orders it otherwise, is escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def visible_lines(text: str) -> str:
    """The same where the text has lines of its own."""
    return "\n".join(visible(line) for line in text.split("\n"))


def argument(text: str) -> str:
    """A text as an argument that can be copied into a shell.

    Control characters need ``$'...'``; its octal escapes mean the same in every shell that has it.
    """
    if text.isprintable():
        return shlex.quote(text)
    return f"$'{''.join(_in_quotes(c) for c in text)}'"


def as_json(document: Any) -> None:
    """What a route answered, for scripts. Escapes of JSON stand for what a terminal must not see."""
    text = msgspec.json.format(msgspec.json.encode(document)).decode()
    click.echo("".join(c if c.isprintable() or c == "\n" else _in_json(c) for c in text))


def _in_quotes(character: str) -> str:
    if character in "'\\":
        return f"\\{character}"
    return character if character.isprintable() else "".join(f"\\{byte:03o}" for byte in character.encode())


def _in_json(character: str) -> str:
    code_units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{code_units[at : at + 4]}" for at in range(0, len(code_units), 4))
