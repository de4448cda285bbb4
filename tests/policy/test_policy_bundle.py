"""What OPA is given: rules without tests, and the registry as the rules know it."""

import io
import tarfile
import time
from pathlib import Path
from shutil import copytree

import msgspec
import pytest
from msgspec.structs import asdict, replace
from policy_support import POLICIES
from snapshots import EVALUATED_S, OWN, PRIVATE, RENTED, UNTIL_S, snapshot

from adapters.policy.bundle import build, policy_revision, read_rules, rules_revision
from adapters.policy.registry_facts import ApprovalFacts, EvaluationFacts, facts


def test_the_same_contents_are_the_same_bytes(tmp_path: Path) -> None:
    copy = Path(copytree(POLICIES, tmp_path / "elsewhere"))
    one = build(read_rules(POLICIES), facts(snapshot()), "r")
    assert one == build(read_rules(copy), facts(snapshot()), "r")
    assert one != build(read_rules(copy), facts(snapshot()), "s")
    assert one[4:8] == bytes(4)  # gzip's own time of making


def test_tests_schemas_and_golden_decisions_do_not_ship() -> None:
    with tarfile.open(fileobj=io.BytesIO(build(read_rules(POLICIES), facts(snapshot()), "r"))) as archive:
        names = archive.getnames()
        manifest = msgspec.json.decode(archive.extractfile(".manifest").read())
    assert manifest == {"revision": "r", "rego_version": 1}  # no roots: the bundle owns every path
    assert [name for name in names if not name.endswith(".rego")] == [".manifest", "data.json"]
    assert "gateway/checks/checks.rego" in names
    assert not any(name.endswith("_test.rego") for name in names)


def test_the_rules_revision_is_of_rules_alone(tmp_path: Path) -> None:
    copy = Path(copytree(POLICIES, tmp_path / "policies"))
    before = rules_revision(copy)
    assert before == rules_revision(POLICIES)
    (copy / "gateway" / "new_test.rego").write_text("package gateway_test\n")
    (copy / "schemas" / "input.json").write_text("{}")
    assert rules_revision(copy) == before
    (copy / "gateway" / "new.rego").write_text("package gateway.new\n")
    assert rules_revision(copy) != before


def test_rules_are_read_from_their_own_folder_alone(tmp_path: Path) -> None:
    copy = Path(copytree(POLICIES, tmp_path / "policies"))
    (copy / "zz").mkdir()
    (copy / "zz" / "open.rego").write_text("package gateway.route.isolated\n")
    assert read_rules(copy) == read_rules(POLICIES)


def test_the_policy_revision_changes_with_each_of_its_parts() -> None:
    revisions = {
        policy_revision(*parts)
        for parts in (("r", "s", "1"), ("q", "s", "1"), ("r", "t", "1"), ("r", "s", "2"), ("rs", "", "1"))
    }
    assert len(revisions) == 5


def test_instants_are_whole_seconds_and_classes_have_ranks() -> None:
    found = facts(snapshot())
    assert found.ranks == {"public": 0, "internal": 1, "private": 2}
    assert found.bundles["chat@1"].expires_s == UNTIL_S
    assert found.bundles["chat@1"].evaluation == EvaluationFacts(score=0.8, refusal_rate=0.1, date_s=EVALUATED_S)
    assert found.profiles["own"].approvals == (ApprovalFacts(privacy_class="private", until_s=UNTIL_S),)


def test_what_a_profile_does_not_have_is_said_in_words() -> None:
    engine = OWN.engine
    assert engine is not None
    shared = replace(OWN, id="shared", engine=replace(engine, prefix_cache="salted", tenants="any"))
    found = facts(snapshot(profiles=(OWN, shared, RENTED, replace(RENTED, id="free", credential=None)))).profiles
    assert [found[name].serves_any_tenant for name in ("own", "shared", "rented")] == [False, True, True]
    assert found["shared"].engine_tenants == ()
    assert (found["own"].prefix_cache, found["own"].engine_tenants) == ("single_tenant", ("a",))
    assert (found["own"].sharing, found["own"].attests_revision) == ("exclusive", False)
    assert (found["rented"].prefix_cache, found["rented"].engine_tenants) == ("none", ())
    assert (found["rented"].sharing, found["rented"].attests_revision) == ("none", False)
    assert (found["rented"].needs_credential, found["rented"].credential_tenants) == (True, ("a",))
    assert (found["free"].needs_credential, found["free"].credential_tenants) == (False, ())


def test_what_a_class_asks_for_goes_along_whole() -> None:
    asked = facts(snapshot()).requirements
    assert list(asked) == ["public", "internal", "private"]
    assert asdict(asked["private"]) == {name: value for name, value in asdict(PRIVATE).items() if name != "id"}


def test_a_day_starts_at_midnight_utc_wherever_the_gateway_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        found = facts(snapshot()).bundles["chat@1"]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert (found.evaluation.date_s, found.expires_s) == (EVALUATED_S, UNTIL_S)
    assert EVALUATED_S % 86_400 == 0
