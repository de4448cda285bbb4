"""Rules and registry as one OPA bundle, byte for byte the same for the same contents."""

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

import msgspec

from adapters.policy.registry_facts import RegistryFacts

_encode = msgspec.json.Encoder(order="deterministic").encode


def read_rules(policies: Path) -> dict[str, bytes]:
    """The rules in policies/gateway by their path below ``policies``; tests are none: they would add to the rules.

    :raises OSError: a file cannot be read.
    """
    found = (path for path in sorted((policies / "gateway").rglob("*.rego")) if not path.name.endswith("_test.rego"))
    return {path.relative_to(policies).as_posix(): path.read_bytes() for path in found if path.is_file()}


def rules_revision(policies: Path) -> str:
    """Digest of the rules without their tests. A bundle of the registry records it as evidence."""
    return revision_of(read_rules(policies))


def revision_of(rules: dict[str, bytes]) -> str:
    """The same for rules that were read."""
    return _digest({path: hashlib.sha256(text).hexdigest() for path, text in rules.items()})


def policy_revision(rules: str, snapshot: str, opa: str) -> str:
    """Digest of all that a decision depends on: the rules' revision, the snapshot's digest, OPA's version."""
    return _digest([rules, snapshot, opa])


def build(rules: dict[str, bytes], registry: RegistryFacts, revision: str) -> bytes:
    """The bundle as a tarball.

    The manifest names no roots: so the bundle owns every path, and OPA refuses to write any.
    """
    files = {
        ".manifest": _encode({"revision": revision, "rego_version": 1}),
        "data.json": _encode({"registry": registry}),
    } | rules
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, content in sorted(files.items()):
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(tar.getvalue(), mtime=0)


def _digest(value: object) -> str:
    return "sha256:" + hashlib.sha256(_encode(value)).hexdigest()
