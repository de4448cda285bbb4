"""What has no place among the policies: rules that nobody would check, and files that OPA's commands take for more."""

from collections.abc import Iterator
from pathlib import Path

from gateway.domain.fault import Fault


def strays(policies: Path) -> list[Fault]:
    """Links anywhere; rules outside of ``gateway``; below it everything but rules, hidden files included.

    OPA's commands read data from JSON and YAML files and follow links, so that the check would see another world
    than the one that is served.
    """
    return [fault for path in sorted(policies.rglob("*")) for fault in _stray(path, policies)]


def _stray(path: Path, policies: Path) -> Iterator[Fault]:
    inside = path.relative_to(policies).parts[0] == "gateway"
    is_rule = path.name.casefold().endswith(".rego") and not path.is_dir()
    if path.is_symlink():
        yield _fault(path, "This is a link.", "Put the file or the folder itself here, or delete the link.")
    elif is_rule and not inside:
        remedy = f"Move the file to the folder of its package below {policies / 'gateway'}, or delete it."
        yield _fault(path, "Rules have no place here.", remedy)
    elif inside and not _is_plain(path):
        remedy = "Among the rules are folders and .rego files alone, none of them hidden. Remove it."
        yield _fault(path, "This has no place among the rules.", remedy)


def _is_plain(path: Path) -> bool:
    return not path.name.startswith(".") and (path.is_dir() or (path.is_file() and path.suffix == ".rego"))


def _fault(path: Path, sentence: str, remedy: str) -> Fault:
    return Fault(file=str(path), line=0, path="", sentence=sentence, remedy=remedy)
