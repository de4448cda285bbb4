"""What a file holds beside its YAML: line breaks that a diff does not show, escapes, and secrets in comments.

YAML ends a line, and with it a comment, at characters that git and editors show as part of the line. A file with one
of them is one thing to whoever reviews it and another to whoever loads it, so it is refused as a whole.
"""

import re
from collections.abc import Iterator

from adapters.registry.secret_shapes import has_known_shape
from adapters.registry.unseen import has_unseen
from gateway.domain.fault import Fault

_ESCAPE = re.compile(r"\\(?:[xuU]|$)")
"""An escape that stands for a character, and a line that goes on in the next one: both hide words from a search."""


def misleading(text: str, file: str) -> Iterator[Fault]:
    """Faults of lines that say something else than they show. Lines are counted by line feeds alone, as in a diff."""
    if "\r\n" in text:
        line = text.count("\n", 0, text.index("\r\n")) + 1
        remedy = "Save the file with plain line ends (LF)."
        yield Fault(file, line, "", "The line ends with a carriage return.", remedy)
    for number, line_text in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if has_unseen(line_text):
            remedy = "Type the line again, without copying it, with spaces for blanks."
            yield Fault(file, number, "", "The line holds a character that nobody sees.", remedy)
        if _ESCAPE.search(line_text):
            sentence = "The line holds an escape that hides what it says."
            yield Fault(file, number, "", sentence, "Write the character itself, and the text in one line.")


def lines_with_secrets(text: str) -> Iterator[int]:
    """Numbers of the lines, comments included, that hold a token in the form of a well-known issuer."""
    if not has_known_shape(text):
        return  # most files, at the price of one search
    for number, line_text in enumerate(text.split("\n"), 1):
        if has_known_shape(line_text):
            yield number
