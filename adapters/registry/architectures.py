"""Architectures: config.json files of models, which the memory of a profile is computed from.

They are somebody else's JSON, taken as it is published: no YAML, no struct of ours, no schema. A profile names its file
by digest, so that nobody changes the arithmetic without an approval.
"""

import hashlib
import pathlib
import re

from msgspec import Struct

from adapters.registry.document import pointer
from adapters.registry.unseen import has_unseen
from gateway.domain.fault import Fault
from gateway.domain.worksheets.models.architecture import Architecture
from gateway.domain.worksheets.models.hf_config import MOST_BYTES, read_config
from gateway.domain.worksheets.models.hf_fields import ConfigRefused

FOLDER = "architectures"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}\.json", re.ASCII)


class Described(Struct, frozen=True):
    """One file."""

    digest: str
    """``sha256:`` and 64 hexadecimal digits."""
    architecture: Architecture


def has_place(path: pathlib.Path) -> bool:
    """Whether it lies in the folder as something that a profile can name."""
    return _NAME.fullmatch(path.name) is not None and (path.is_file() or path.is_symlink())


def files(directory: pathlib.Path) -> list[pathlib.Path]:
    """All of a registry, in order, links among them."""
    return sorted(path for path in (directory / FOLDER).glob("*.json") if has_place(path))


def read(path: pathlib.Path) -> Described | Fault | None:
    """What a file describes, or the first thing that is wrong with it; None: a link, which draft tells."""
    if path.is_symlink():
        return None
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError:
        return _fault(path, "", "The file cannot be read.", "Check who may read it.")
    if len(data) > MOST_BYTES:
        return _fault(path, "", "The file is too large for a config.json.", f"The bound is {MOST_BYTES} bytes.")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _fault(path, "", "The file is not UTF-8.", "Take the config.json as the model's authors publish it.")
    for number, line in enumerate(text.split("\n"), 1):
        # Published files may be indented with tabs, and have line ends of another system.
        if has_unseen(line.replace("\t", " ").removesuffix("\r")):
            sentence = "The line holds a character that nobody sees, so that a diff may show other numbers."
            return _fault(path, "", sentence, "Remove it: no key of a model needs one.", number)
    try:
        architecture = read_config(text)
    except ConfigRefused as refused:
        return _fault(path, refused.key, refused.sentence, refused.remedy)
    return Described("sha256:" + hashlib.sha256(data).hexdigest(), architecture)


def _fault(path: pathlib.Path, key: str, sentence: str, remedy: str, line: int = 0) -> Fault:
    place = pointer(tuple(key.split("."))) if key else ""
    return Fault(file=str(path), line=line, path=place, sentence=sentence, remedy=remedy)
