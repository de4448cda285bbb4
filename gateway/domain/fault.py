"""A fault in the registry or in a policy, told so that the author of a pull request can mend it."""

from msgspec import Struct


class Fault(Struct, frozen=True, order=True):
    """Where it is, what is wrong and what to do. Never a value of the file: it could be a secret."""

    file: str
    line: int
    """From 1; 0 where the fault is in no line."""
    path: str
    """JSON Pointer in the document, such as /timeouts/total_ms; empty for the whole file."""
    sentence: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        at = f" {self.path}" if self.path else ""
        return f"{place}:{at} {self.sentence} {self.remedy}"
