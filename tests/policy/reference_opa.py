"""Asks a real OPA thousands of questions in a few calls, each beside the registry that it is asked of."""

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from policy_support import POLICIES, opa

from adapters.policy import bundle
from adapters.policy.registry_facts import RegistryFacts

UNDEFINED = {"undefined": True}
"""No answer at all, which the gateway takes for policy that is unavailable."""
_NO_FACTS = RegistryFacts(ranks={}, requirements={}, purposes={}, tenants={}, bundles={}, releases={}, profiles={})
_QUERY = """
{i: answer |
	some i, asked in input.asked
	registry := input.registries[asked.registry]
	question := asked.question
	answer := data.gateway[asked.entrypoint].answer with input as question with data.registry as registry
}
"""


class Asked(NamedTuple):
    """One question of one registry."""

    entrypoint: str
    question: Any
    registry: str


def answers(
    asked: Sequence[Asked], registries: Mapping[str, Any], policies: Path = POLICIES, *, strict: bool = True
) -> list[dict[str, Any]]:
    """What the rules answer, in the same order.

    :param strict: an error within a builtin ends it, as it does where the gateway asks; else it is undefined.
    """
    with tempfile.TemporaryDirectory() as folder:
        tarball = Path(folder) / "bundle.tar.gz"
        tarball.write_bytes(bundle.build(bundle.read_rules(policies), _NO_FACTS, "tested"))
        halves = [asked[: len(asked) // 2], asked[len(asked) // 2 :]]
        with ThreadPoolExecutor(len(halves)) as pool:
            found = pool.map(lambda half: _evaluated(half, registries, tarball, strict), halves)
            return [answer for half in found for answer in half]


def _evaluated(
    asked: Sequence[Asked], registries: Mapping[str, Any], tarball: Path, strict: bool
) -> list[dict[str, Any]]:
    named = {one.registry for one in asked}
    document = {
        "registries": {name: registry for name, registry in registries.items() if name in named},
        "asked": [one._asdict() for one in asked],
    }
    options = ["--strict-builtin-errors"] if strict else []
    command = [str(opa()), "eval", "--format", "json", "--stdin-input", "--bundle", str(tarball), *options, _QUERY]
    done = subprocess.run(command, input=msgspec.json.encode(document), capture_output=True, env={}, check=False)
    result = json.loads(done.stdout)
    assert done.returncode == 0, result.get("errors")
    found = result["result"][0]["expressions"][0]["value"]
    return [found.get(str(index), UNDEFINED) for index in range(len(asked))]
