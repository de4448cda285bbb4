"""A copy of the example registry for a test, with edits, approved again as it then is."""

import pathlib
import re
import shutil
from collections.abc import Iterable

from msgspec import Struct

from adapters.registry import bundle_digest, profile_digest

EXAMPLE = pathlib.Path(__file__).parents[2] / "registry"
PROFILE = "profiles/smollm2-135m.yaml"
_ENDPOINT = re.compile(r"^(endpoint: http://127\.0\.0\.1:)\d+", re.MULTILINE)
_APPROVAL = re.compile(r"(- by: [^\n]+\n +date: [^\n]+\n +digest: )sha256:[0-9a-f]{64}")
_MEMBER = re.compile(r"(- id: (?P<id>\S+)[^\n]*\n +digest: )sha256:[0-9a-f]{64}")


class Edit(Struct, frozen=True):
    """Replace one text in one file. Without ``old``, ``new`` becomes the whole file; without both it is removed."""

    file: str
    """Such as profiles/smollm2-135m.yaml."""
    old: str
    """Must stand in the file exactly once, so that an edit never silently misses."""
    new: str


MORE_MEMORY = Edit(PROFILE, 'device_gib: "1"', 'device_gib: "64"')
"""For more slots than the example's device holds, and longer contexts."""


def slots(count: int) -> tuple[Edit, ...]:
    """As many calls at once of the example's engine, and memory for them, where slots are not what is shown."""
    return Edit(PROFILE, "concurrency: 2", f"concurrency: {count}"), MORE_MEMORY


NO_CANARY = Edit(PROFILE, "    startup_s: 60\n", "    startup_s: 60\n    canary: false\n")
"""Where transitions are counted, and the first of them is to be a caller's."""


def copy_registry(
    tmp_path: pathlib.Path, edits: Iterable[Edit] = (), *, engine_port: int | None = None, approve: bool = True
) -> pathlib.Path:
    """Copy the example into ``tmp_path/registry`` and return that folder.

    :param engine_port: port of the engine on 127.0.0.1 that the profile smollm2-135m shall point to.
    :param approve: give the bundles the digests that the profiles have after the edits.
    :raises ValueError: if the old text of an edit is not in its file exactly once.
    """
    directory = tmp_path / "registry"
    shutil.copytree(EXAMPLE, directory)
    if engine_port is not None:
        profile = directory / "profiles" / "smollm2-135m.yaml"
        profile.write_text(_ENDPOINT.sub(rf"\g<1>{engine_port}", profile.read_text()))
    for edit in edits:
        apply(directory, edit)
    if approve:
        approve_again(directory)
    return directory


def apply(directory: pathlib.Path, edit: Edit) -> None:
    """Make one edit.

    :raises ValueError: if its old text is not in its file exactly once.
    :raises FileNotFoundError: if there is no such file to edit or to remove.
    """
    path = directory / edit.file
    if not edit.old and not edit.new:
        path.unlink()
        return
    if not edit.old:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(edit.new)
        return
    text = path.read_text()
    if text.count(edit.old) != 1:
        raise ValueError(f"{edit.file} holds {edit.old!r} {text.count(edit.old)} times")
    path.write_text(text.replace(edit.old, edit.new))


def approve_again(directory: pathlib.Path) -> None:
    """Give every bundle the digests of its profiles as they are now, and its approvals the bundle's.

    Where the profile or the bundle has a fault of its own, the old digest stays.
    """

    def current(member: re.Match[str]) -> str:
        digest = profile_digest(directory, member["id"])
        return member[1] + digest if isinstance(digest, str) else member[0]

    for bundle in (directory / "bundles").glob("*.yaml"):
        bundle.write_text(_MEMBER.sub(current, bundle.read_text()))
        if isinstance(digest := bundle_digest(directory, bundle.stem), str):
            bundle.write_text(_APPROVAL.sub(rf"\g<1>{digest}", bundle.read_text()))
