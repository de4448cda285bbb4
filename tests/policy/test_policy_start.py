"""A revision that is not sound does not start, and says in a sentence, with file and line, what to do."""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, rmtree

import msgspec
import pytest
from msgspec.structs import replace
from policy_support import ACCESS, POLICIES, Recorder, opa, running
from snapshots import TENANT, snapshot

from adapters import registry
from adapters.policy import start
from adapters.policy.engine import Reason
from gateway.domain.errors import PolicyUnavailable, StartRefused
from gateway.domain.snapshot import Snapshot

REGISTRY = POLICIES.parent / "registry"


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    """A copy of the repository's policies, without golden decisions."""
    copy = Path(copytree(POLICIES, tmp_path / "policies"))
    rmtree(copy / "golden")
    return copy


@pytest.fixture
def tidy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Path]]:
    """What is left of the folders that a start makes."""
    folder = Path(tempfile.mkdtemp(prefix="t-"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return lambda: list(folder.iterdir())


def refused(policies: Path, registry: Snapshot | None = None, program: Path | None = None) -> str:
    async def run() -> None:
        policy = await start(
            snapshot=registry or snapshot(), policies=policies, opa=program or opa(), events=Recorder()
        )
        await policy.close()

    with pytest.raises(StartRefused) as refusal:
        asyncio.run(run())
    return str(refusal.value)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_opa_10_the_old_syntax_is_refused_with_file_and_line(policies: Path, tidy: Callable[[], list[Path]]) -> None:
    rule = policies / "gateway" / "request" / "purpose" / "purpose.rego"
    rule.write_text(rule.read_text() + '\ndeny[reason] { reason := "old" }\n')
    last = len(rule.read_text().splitlines())
    assert refused(policies).startswith(f"{rule}:{last}: rego_parse_error")
    assert tidy() == []


def test_opa_10_a_revision_that_is_refused_leaves_the_old_one_serving(policies: Path) -> None:
    edit(policies / "gateway" / "access" / "access.rego", "answer := {", "answer {")

    async def run() -> bool:
        async with running() as old:
            with pytest.raises(StartRefused):
                await start(snapshot=snapshot(), policies=policies, opa=opa(), events=Recorder())
            return (await old.access(ACCESS)).answer.allow

    assert asyncio.run(run()) is True


@pytest.mark.parametrize(
    "call",
    [
        'http.send({"method": "get", "url": "http://127.0.0.1"}).status_code == 200',
        "time.now_ns() > 0",
        'rand.intn("a", 2) == 1',
        "opa.runtime().env",
        'net.lookup_ip_addr("localhost")',
        'net.cidr_contains("10.0.0.0/8", "10.0.0.1")',
        'trace("seen")',
        "print(input)",
        'uuid.rfc4122("a")',
    ],
)
def test_rules_cannot_call_what_is_not_a_function_of_the_question(policies: Path, call: str) -> None:
    rule = policies / "gateway" / "request" / "alias" / "alias.rego"
    rule.write_text(rule.read_text() + f"\npass if {call}\n")
    name = "internal.print" if call.startswith("print") else call.partition("(")[0]
    assert f"undefined function {name}" in refused(policies)


def test_opa_02_a_rule_that_is_not_there_is_no_answer(policies: Path) -> None:
    edit(policies / "gateway" / "access" / "access.rego", "\nanswer := {", "\nanswers := {")

    async def run() -> str:
        async with running(policies) as policy:
            with pytest.raises(PolicyUnavailable) as unavailable:
                await policy.access(ACCESS)
            return unavailable.value.reason

    assert asyncio.run(run()) == Reason.UNDEFINED


def test_opa_07_rules_that_contradict_each_other_are_no_answer(policies: Path) -> None:
    rule = policies / "gateway" / "privacy" / "privacy.rego"
    rule.write_text(rule.read_text() + '\nrequired := "public" if input.tenant == "a"\n')

    async def run() -> str:
        async with running(policies) as policy:
            with pytest.raises(PolicyUnavailable) as unavailable:
                await policy.access(ACCESS)
            return unavailable.value.reason

    assert asyncio.run(run()) == Reason.EVALUATION_FAILED


def test_a_required_check_without_its_metadata_is_refused(policies: Path) -> None:
    edit(policies / "gateway" / "route" / "region" / "region.rego", "#   remedy: ", "#   advice: ")
    rule = policies / "gateway" / "route" / "region" / "region.rego"
    assert refused(policies).startswith(f"{rule}:8: custom.remedy is missing in METADATA.")


def test_a_required_check_without_a_rule_is_refused(policies: Path) -> None:
    rmtree(policies / "gateway" / "route" / "region")
    message = "There is no check route/region with METADATA. Run: gateway policy check"
    assert refused(policies) == message


def test_a_list_of_required_checks_in_another_shape_is_refused(policies: Path) -> None:
    edit(
        policies / "gateway" / "checks" / "checks.rego", "required := {", 'required := {"admin": {"request": {"role"}},'
    )
    assert "The list of required checks is not as the gateway reads it" in refused(policies)


def test_a_folder_without_rules_is_refused(tmp_path: Path) -> None:
    assert "There are no rules in this folder" in refused(tmp_path)


def test_a_rule_outside_of_the_rules_folder_is_refused(policies: Path) -> None:
    (policies / "zz").mkdir()
    (policies / "zz" / "open.rego").write_text("package gateway.route.isolated # nothing\n\npass contains 1\n")
    assert refused(policies).startswith(f"{policies / 'zz' / 'open.rego'}: Rules have no place here.")


def test_another_version_of_opa_is_refused(tmp_path: Path, policies: Path) -> None:
    other = _program(tmp_path, "echo 'Version: 1.22.2'")
    assert "not one of the tested versions (1.22.3)" in refused(policies, program=other)
    assert "not one of the tested versions" in refused(policies, program=tmp_path / "nothing")


def test_an_opa_that_ends_at_its_start_is_refused_with_what_it_said(
    tmp_path: Path, policies: Path, tidy: Callable[[], list[Path]]
) -> None:
    ends = _program(tmp_path, f'if [ "$1" = run ]; then echo no socket >&2; exit 3; fi; exec {opa()} "$@"')
    assert refused(policies, program=ends) == "OPA ended at its start. It said: no socket"
    assert tidy() == []


def test_an_opa_that_never_gets_ready_is_refused(
    tmp_path: Path, policies: Path, tidy: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.policy.opa._START_S", 0.3)
    sleeps = _program(tmp_path, f'if [ "$1" = run ]; then exec sleep 60; fi; exec {opa()} "$@"')
    assert "OPA did not become ready" in refused(policies, program=sleeps)
    assert tidy() == []


def test_a_temporary_folder_too_deep_for_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    assert "Set TMPDIR to a short one" in refused(POLICIES)


def test_a_golden_decision_that_comes_out_otherwise_refuses_and_names_its_file(tmp_path: Path) -> None:
    policies = Path(copytree(POLICIES, tmp_path / "policies"))
    golden = policies / "golden" / "access-general.json"
    edit(golden, '"internal"', '"private"')
    line = golden.read_text().splitlines().index('    "privacy_class": "private",') + 1
    assert refused(policies, _example()) == (
        f"{golden}:{line}: /answer/privacy_class Policy now decides this golden decision otherwise: "
        "/answer/privacy_class written private, now internal. "
        "Mend the rules or the registry, or change the file together with them."
    )


def test_rules_that_decide_otherwise_are_caught_by_the_golden_decisions(tmp_path: Path) -> None:
    policies = Path(copytree(POLICIES, tmp_path / "policies"))
    edit(policies / "gateway" / "source" / "current" / "current.rego", "released_s <= input", "released_s < 2 * input")
    message = refused(policies, _example())
    assert "replay-embargo.json:" in message
    assert "/answer/allow written false, now true; /answer/failed/source/0/0 written current, now none." in message


def test_a_golden_decision_without_an_answer_refuses_and_names_its_file(tmp_path: Path) -> None:
    policies = Path(copytree(POLICIES, tmp_path / "policies"))
    edit(policies / "gateway" / "routes" / "routes.rego", "answer := {", "answers := {")
    told = refused(policies, _example()).splitlines()
    of_routes = sorted(path.name for path in (policies / "golden").glob("routes-*.json"))
    assert [Path(line.partition(":")[0]).name for line in told] == of_routes
    assert len(of_routes) > 1
    assert all("Policy has no answer to this golden decision (undefined)." in line for line in told)


def test_a_golden_file_that_is_none_refuses_and_names_its_file(tmp_path: Path) -> None:
    policies = Path(copytree(POLICIES, tmp_path / "policies"))
    golden = policies / "golden" / "access-general.json"
    edit(golden, '"alias"', '"alia"')
    assert refused(policies, _example()).startswith(f"{golden}: This is not a golden decision")


def test_golden_decisions_are_asked_of_the_registry_that_they_belong_to() -> None:
    async def run(found: Snapshot) -> tuple[int, int]:
        async with running(registry=found) as policy:
            return policy.golden.right, len(policy.golden.skipped)

    written = len(list((POLICIES / "golden").glob("*.json")))
    of_nobody = len([path for path in (POLICIES / "golden").glob("*.json") if '"tenant": "system"' in path.read_text()])
    assert written >= 20
    assert asyncio.run(run(_example())) == (written, 0)
    assert asyncio.run(run(snapshot())) == (of_nobody, written - of_nobody)


def test_each_entrypoint_has_golden_decisions_that_allow_and_that_deny() -> None:
    written = [msgspec.json.decode(path.read_bytes()) for path in (POLICIES / "golden").glob("*.json")]
    allowing = {"access": "allow", "replay": "allow", "operate": "allow", "routes": "routes", "visible": "aliases"}
    found = {(golden["entrypoint"], bool(golden["answer"][allowing[golden["entrypoint"]]])) for golden in written}
    assert found == {(entrypoint, allowed) for entrypoint in allowing for allowed in (False, True)}


def test_the_revision_is_of_rules_registry_and_version(policies: Path) -> None:
    async def run(registry: Snapshot) -> str:
        async with running(policies, registry) as policy:
            return policy.revision

    one = asyncio.run(run(snapshot()))
    assert one == asyncio.run(run(snapshot()))
    assert one != asyncio.run(run(snapshot(tenants=(replace(TENANT, title="Other"),))))
    test = policies / "gateway" / "gateway_test.rego"
    test.write_text(test.read_text() + "\n# A test is no rule.\n")
    assert one == asyncio.run(run(snapshot()))
    rule = policies / "gateway" / "routes" / "routes.rego"
    rule.write_text(rule.read_text() + "\n# A comment is a change.\n")
    assert one != asyncio.run(run(snapshot()))


def _example() -> Snapshot:
    loaded = registry.load(REGISTRY, at_us=1_796_000_000_000_000)
    assert isinstance(loaded, registry.Loaded), msgspec.to_builtins(loaded)
    return loaded.snapshot


def _program(folder: Path, script: str) -> Path:
    program = folder / "opa"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    return program
