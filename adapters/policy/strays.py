"""What has no place among the policies: rules that nobody would check, and files that OPA's commands take for more."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

from gateway.domain.fault import Fault

_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"})
"""Unicode's categories of controls, formats, separators and spaces."""
_PLAIN = frozenset("\n\t ")


def strays(policies: Path) -> list[Fault]:
    """Links anywhere; rules outside of ``gateway``; below it everything but rules, hidden files included; whatever is
    no golden decision among those; and characters that nobody sees.

    OPA's commands read data from JSON and YAML files and follow links, so that the check would see another world
    than the one that is served.
    """
    paths = sorted(policies.rglob("*"))
    found = [fault for path in paths for fault in _stray(path, policies)]
    return found or [fault for path in paths if path.is_file() for fault in _unseen(path)]


def _stray(path: Path, policies: Path) -> Iterator[Fault]:
    top = path.relative_to(policies).parts[0]
    inside = top == "gateway"
    is_rule = path.name.casefold().endswith(".rego")
    if path.is_symlink():
        yield _fault(path, "This is a link.", "Put the file or the folder itself here, or delete the link.")
    elif is_rule and path.is_dir():
        yield _fault(path, "This folder is named as a file of rules.", "Rename it, or delete it.")
    elif is_rule and not inside:
        remedy = f"Move the file to the folder of its package below {policies / 'gateway'}, or delete it."
        yield _fault(path, "Rules have no place here.", remedy)
    elif inside and not _is_plain(path):
        remedy = "Among the rules are folders and .rego files alone, none of them hidden. Remove it."
        yield _fault(path, "This has no place among the rules.", remedy)
    elif top == "golden" and path != policies / "golden" and not _is_golden(path, policies):
        remedy = "Golden decisions are .json files right in this folder, none of them hidden. Move it, or remove it."
        yield _fault(path, "This is no golden decision, and nobody would ask it.", remedy)


def _is_plain(path: Path) -> bool:
    return not path.name.startswith(".") and (path.is_dir() or (path.is_file() and path.suffix == ".rego"))


def _is_golden(path: Path, policies: Path) -> bool:
    is_json = path.suffix == ".json" and not path.name.startswith(".")
    return is_json and path.is_file() and path.parent == policies / "golden"


def _unseen(path: Path) -> Iterator[Fault]:
    """The first character of a file that a reviewer does not see, or sees elsewhere than OPA."""
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        yield _fault(path, "This is not UTF-8.", "Save the file as UTF-8.", line)
        return
    for number, content in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        for character in content:
            if character not in _PLAIN and unicodedata.category(character) in _UNSEEN:
                sentence = f"The character U+{ord(character):04X} stands here unseen."
                yield _fault(path, sentence, "Delete it, or write it as an escape.", number)
                return


def _fault(path: Path, sentence: str, remedy: str, line: int = 0) -> Fault:
    return Fault(file=str(path), line=line, path="", sentence=sentence, remedy=remedy)
