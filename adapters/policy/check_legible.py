"""Rules that the check can read to their end, in bounded time."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from adapters.policy.bundle import read_rules
from adapters.policy.command import run
from gateway.domain.fault import Fault

T = TypeVar("T")
_PARSE = "{path: json.marshal(rego.parse_module(path, text)) | some path, text in input}"
_DEEPEST = 150
"""Objects within objects of OPA's syntax tree. A call in a list in a comprehension is about twenty."""


def illegible(policies: Path, opa: Path) -> list[Fault]:
    """Rules that are nested too deeply, or hold what no JSON of ours can. They have to compile."""
    texts = {path: text.decode() for path, text in read_rules(policies).items()}
    arguments = ("eval", "--stdin-input", "--format", "raw", _PARSE)
    found = msgspec.json.decode(run(opa, *arguments, stdin=msgspec.json.encode(texts)).out, type=dict[str, str])
    return [fault for path, tree in sorted(found.items()) for fault in _illegible(policies / path, tree)]


def or_fault(policies: Path, told: Callable[[], T], otherwise: Callable[[Fault], T]) -> T:
    """What ``told`` gives; or one fault where OPA takes too long, or says what cannot be read."""
    try:
        return told()
    except subprocess.TimeoutExpired as error:
        sentence = f"opa {error.cmd[1]} takes longer than {error.timeout:.0f} s on these rules."
    except (msgspec.DecodeError, RecursionError) as error:
        sentence = f"What OPA says of these rules cannot be read: {str(error).rstrip('.')}."
    return otherwise(Fault(str(policies / "gateway"), 0, "", sentence, "Make what was changed last simpler."))


def _illegible(path: Path, tree: str) -> list[Fault]:
    try:
        too_deep = _is_too_deep(msgspec.json.decode(tree))
    except RecursionError:
        too_deep = True
    except msgspec.DecodeError as error:
        sentence = f"This file cannot be read: {str(error).rstrip('.')}."
        return [Fault(str(path), 0, "", sentence, "Write values that JSON can hold.")]
    deep = Fault(str(path), 0, "", "This is nested too deeply to be checked.", "Split the rule into several.")
    return [deep] if too_deep else []


def _is_too_deep(tree: Any) -> bool:
    """Without recursion."""
    level, depth = [tree], 0
    while level and depth <= _DEEPEST:
        below = [child for node in level for child in (node.values() if isinstance(node, dict) else node)]
        level, depth = [child for child in below if isinstance(child, dict | list)], depth + 1
    return bool(level)
