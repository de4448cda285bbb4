"""The gateway over other registries, all in one run: no limit at all, limits in every scope, a hosted route.

Each is a process of its own with a new store. They take turns beside the pass-through, so that their ratios can be
compared although the machine drifts.
"""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from gateway.bench import servers
from gateway.bench.children import ROOT, child
from gateway.bench.competitors import Competitors, Up, port_of
from gateway.bench.figures import BESIDE, BUDGETED, FRESH, HOSTED, UNLIMITED, Case, Figure, Place, Sample, figures
from gateway.bench.plan import BODY, Plan
from gateway.testkit.provider.child import ProviderProcess
from gateway.testkit.provider.hosted import answer
from gateway.testkit.registry_copy import EXAMPLE, MORE_MEMORY, Edit

_SECRET = "GATEWAY_SECRET_OPENAI_EU"  # noqa: S105 - the name of a variable
_HOSTED_PROFILE = "profiles/gpt-4.1-mini-eu.yaml"
_SELF_HOSTED = ("profiles/smollm2-135m.yaml", "quota-scopes/in-house.yaml", "tenants/acme.yaml")
"""The three scopes of a request to the self-hosted profile."""
_BLOCK = re.compile(r"^limits:\n(?:  .*\n)+", re.MULTILINE)
_LIMIT = re.compile(r"^(  (?:requests|tokens|cost)_per_\w+|  concurrency): .*$", re.MULTILINE)

Say = Callable[[str], None]


class Variant(Struct, frozen=True, kw_only=True):
    """A gateway of its own."""

    case: Case
    edits: tuple[Edit, ...]
    model: str = "chat"
    environment: dict[str, str] = {}


def variants(provider_port: int) -> tuple[Variant, ...]:
    """The three of them; the hosted one asks the scripted provider at that port."""
    pointed = Edit(
        _HOSTED_PROFILE,
        "endpoint: https://eu.api.openai.com/v1\nnetwork: public",
        f"endpoint: http://127.0.0.1:{provider_port}/v1\nnetwork: loopback",
    )
    return (
        Variant(case=UNLIMITED, edits=tuple(_limited(file, "unlimited") for file in _SELF_HOSTED)),
        Variant(case=BUDGETED, edits=(*(_limited(file, "900000000") for file in _SELF_HOSTED), MORE_MEMORY)),
        Variant(
            case=HOSTED,
            model="assist",
            edits=(
                pointed,
                _limited(_HOSTED_PROFILE, "unlimited"),
                _limited("quota-scopes/openai-eu.yaml", "unlimited"),
                Edit("credentials/openai-eu.yaml", "[eu.api.openai.com]", f'["127.0.0.1:{provider_port}"]'),
            ),
            environment={_SECRET: "sk-of-the-bench"},
        ),
    )


def _limited(file: str, limit: str) -> Edit:
    """Every limit of the file; one that is not ``unlimited`` is so large that it refuses nobody."""
    text = (EXAMPLE / file).read_text(encoding="utf-8")
    block = _BLOCK.search(text)
    assert block is not None, f"{file} has no limits"

    def line(found: re.Match[str]) -> str:
        if limit != "unlimited" and "cost" in found[1]:
            return f'{found[1]}: "{limit}.00"'
        if limit != "unlimited" and "concurrency" in found[1] and file.startswith("profiles/"):
            return f"{found[1]}: {servers.FACE.slots}"  # an engine must have as many
        return f"{found[1]}: {limit}"

    return Edit(file, block[0], _LIMIT.sub(line, block[0]))


def measure_variants(plan: Plan, say: Say) -> list[Figure]:
    """Pass-through and variants at the highest concurrency over the engine that answers at once."""
    place = Place(0, max(plan.concurrencies))
    with ExitStack() as stack:
        engine = stack.enter_context(servers.engine())
        provider = stack.enter_context(ProviderProcess("--count-only"))
        provider.answer_by_default(answer("openai"))
        pass_through = stack.enter_context(child("gateway.bench.passthrough", "--engine", engine.url))
        load = stack.enter_context(child("gateway.bench.load"))
        port = port_of(pass_through)
        asked: dict[Case, Competitors] = {}
        for variant in variants(provider.port):
            say(f"{variant.case} starts")
            gateway, data = stack.enter_context(_started(variant, engine.port))
            behind = provider if variant.case == HOSTED else engine
            up = Up(
                engine=behind, gateway=gateway, pass_through=pass_through, pass_through_port=port, load=load, data=data
            )
            body = BODY.replace('"model": "chat"', f'"model": "{variant.model}"')
            asked[variant.case] = Competitors(plan, up, body=body)
        return figures(_turns(asked, plan, place, say))


@contextmanager
def _started(variant: Variant, engine_port: int) -> Iterator[tuple[servers.Gateway, Path]]:
    with tempfile.TemporaryDirectory(prefix="gateway-bench-") as folder:
        # The golden decisions belong to the registry as it is committed; the edits may contradict them.
        policies = shutil.copytree(
            ROOT / "policies", Path(folder) / "policies", ignore=shutil.ignore_patterns("golden")
        )
        environment = servers.settings(Path(folder), engine_port=engine_port, edits=variant.edits)
        environment["GATEWAY_POLICIES"] = str(policies)
        with servers.gateway(environment | variant.environment) as gateway:
            servers.wait_for_models(gateway.port, variant.model)
            yield gateway, Path(environment["GATEWAY_DATA"])


def _turns(asked: dict[Case, Competitors], plan: Plan, place: Place, say: Say) -> list[Sample]:
    say(f"limits and a hosted route, {place.concurrency} at once")
    cases: list[Case] = [BESIDE, *asked]

    def one(case: Case) -> tuple[Competitors, Case]:
        return (asked[UNLIMITED], BESIDE) if case == BESIDE else (asked[case], FRESH)

    for case in cases:
        competitors, kind = one(case)
        competitors.apply(kind, place.concurrency, plan.warm_up_s)
    found: list[Sample] = []
    for round_ in range(plan.rounds):
        for case in cases if round_ % 2 == 0 else cases[::-1]:
            competitors, kind = one(case)
            found.append(replace(competitors.sample(kind, place, round_), case=case))
    return found
