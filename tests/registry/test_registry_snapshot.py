"""The snapshot: what the example holds, and digests that depend on contents alone."""

import pathlib
import random
import tempfile
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from registry_examples import NOW_US, digest, faults, files, full_registry

from adapters.registry import Loaded, load, profile_digest
from gateway.domain.registry import digest_of
from gateway.testkit.registry_copy import EXAMPLE, Edit, approve_again, copy_registry


def test_the_example_loads_without_a_warning_in_2027_too() -> None:
    for at_us in (NOW_US, 1_830_000_000_000_000):
        loaded = load(EXAMPLE, at_us=at_us, strict=True)
        assert isinstance(loaded, Loaded), loaded
        assert loaded.warnings == ()


def test_the_example_holds_tenants_profiles_and_bundles_as_a_company_has_them() -> None:
    loaded = load(EXAMPLE, at_us=NOW_US)
    assert isinstance(loaded, Loaded)
    snapshot = loaded.snapshot
    principal = snapshot.principal("acme", "assistant")
    assert principal is not None
    assert (principal.groups, principal.roles) == (("staff",), ("generate",))
    assert [asked.id for asked in snapshot.privacy_classes] == ["public", "internal", "private"]
    assert {name: purpose.grounded for name, purpose in snapshot.purposes.items()} == {
        "answers": True,
        "drafting": False,
    }
    assert {name: (tenant.privacy_class, tenant.aliases) for name, tenant in snapshot.tenants.items()} == {
        "acme": ("internal", ("chat", "assist")),
        "platform": ("internal", ("assist",)),
        "tenant-a": ("private", ("chat",)),
    }
    kinds = {}
    for alias, name in snapshot.releases.items():
        bundle = snapshot.bundles[name]
        kinds[alias] = (bundle.privacy_class, [snapshot.profiles[member.id].kind for member in bundle.profiles])
        assert all(member.digest == snapshot.profile_digests[member.id] for member in bundle.profiles)
        assert snapshot.bundle_digests[name] == digest_of(bundle)
    assert kinds == {"chat": ("private", ["self_hosted"] * 2), "assist": ("internal", ["hosted"] * 2)}


def test_nothing_hosted_serves_the_tenant_that_is_private_by_configuration() -> None:
    loaded = load(EXAMPLE, at_us=NOW_US)
    assert isinstance(loaded, Loaded)
    strictest = loaded.snapshot.privacy_classes[-1]
    tenant = loaded.snapshot.tenants["tenant-a"]
    assert tenant.privacy_class == strictest.id
    assert "public" not in strictest.networks
    assert not any(tenant.id in credential.tenants for credential in loaded.snapshot.credentials.values())


def test_the_digest_for_a_bundle_is_told_for_a_profile(tmp_path: pathlib.Path) -> None:
    loaded = load(EXAMPLE, at_us=NOW_US)
    assert isinstance(loaded, Loaded)
    assert profile_digest(EXAMPLE, "smollm2-135m") == loaded.snapshot.profile_digests["smollm2-135m"]
    broken = copy_registry(tmp_path, [Edit("profiles/smollm2-135m.yaml", "kind: self_hosted", "kind: other")])
    told = profile_digest(broken, "smollm2-135m")
    assert isinstance(told, tuple)
    assert [f.path for f in told] == ["/kind"]


def test_the_fault_of_a_changed_profile_tells_the_digest_that_mends_it(tmp_path: pathlib.Path) -> None:
    edit = Edit("profiles/smollm2-135m.yaml", "max_output: 256", "max_output: 128")
    directory = copy_registry(tmp_path, [edit], approve=False)
    (fault,) = faults(directory)
    assert str(profile_digest(directory, "smollm2-135m")) in fault.remedy
    approve_again(directory)
    assert faults(directory) == []


def test_a_copy_points_to_the_port_of_a_test_engine(tmp_path: pathlib.Path) -> None:
    loaded = load(copy_registry(tmp_path, engine_port=12345), at_us=NOW_US)
    assert isinstance(loaded, Loaded)
    assert loaded.snapshot.profiles["smollm2-135m"].endpoint == "http://127.0.0.1:12345/v1"


def test_an_edit_that_misses_is_an_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="0 times"):
        copy_registry(tmp_path, [Edit("privacy.yaml", "no such text", "")])


def _shuffled(value: Any, chance: random.Random) -> Any:
    """The same value with its keys in another order. Lists keep theirs: it has a meaning."""
    if isinstance(value, dict):
        items = [(key, _shuffled(inner, chance)) for key, inner in value.items()]
        chance.shuffle(items)
        return dict(items)
    return [_shuffled(inner, chance) for inner in value] if isinstance(value, list) else value


def _plain(text: str) -> Any:
    """Numbers and booleans as such, dates as strings, as the strict loader reads them."""
    return yaml.load(
        text.replace(": 2026-", ": !!str 2026-").replace(": 2028-", ": !!str 2028-"), Loader=yaml.SafeLoader
    )


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_digest_depends_on_neither_order_of_keys_nor_style_nor_comments(chance: random.Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        directory = full_registry(pathlib.Path(folder))
        before = load(directory, at_us=NOW_US)
        paths = files(directory)
        chance.shuffle(paths)
        for path in paths:
            text = yaml.safe_dump(
                _shuffled(_plain(path.read_text()), chance),
                sort_keys=False,
                default_flow_style=chance.choice([True, False, None]),
                indent=chance.choice([2, 4, 7]),
                width=chance.choice([20, 80, 1000]),
            )
            path.unlink()
            path.write_text(f"# {chance.random()}\n{text}# the end\n")
        after = load(directory, at_us=NOW_US)
    assert isinstance(before, Loaded)
    assert isinstance(after, Loaded), after
    assert after.snapshot == before.snapshot


def test_a_default_that_is_written_out_does_not_change_the_digest(tmp_path: pathlib.Path) -> None:
    edit = Edit("profiles/smollm2-135m.yaml", "max_output: 256\n", "max_output: 256\nmax_answer_bytes: 4194304\n")
    assert digest(copy_registry(tmp_path, [edit], approve=False)) == digest(EXAMPLE)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("currency.yaml", "currency: EUR", "currency: USD"),
        ("privacy.yaml", "longest_facts_s: 604800", "longest_facts_s: 604799"),
        ("releases.yaml", "  chat: chat@1", "  chat: chat@1\n  chat2: chat@1"),
        ("purposes/drafting.yaml", "grounded: false", "grounded: true"),
        ("tenants/acme.yaml", "active: true", "active: false"),
        ("tenants/acme.yaml", "groups: [staff]", "groups: [staff, board]"),
        ("tenants/acme.yaml", "purposes: [drafting, answers]", "purposes: [answers, drafting]"),
        ("quota-scopes/in-house.yaml", "  concurrency: unlimited", "  concurrency: 0"),
        ("profiles/smollm2-135m.yaml", "max_output: 256", "max_output: 255"),
        ("bundles/chat@1.yaml", "score: 0.62", "score: 0.63"),
    ],
)
def test_any_change_of_contents_changes_the_digest(file: str, old: str, new: str, tmp_path: pathlib.Path) -> None:
    assert digest(copy_registry(tmp_path, [Edit(file, old, new)])) != digest(EXAMPLE)


def test_a_changed_credential_changes_the_digest(tmp_path: pathlib.Path) -> None:
    edit = Edit("credentials/example-key.yaml", "owner: Kim Okafor", "owner: Robin Reyes")
    assert digest(full_registry(tmp_path / "a", [edit])) != digest(full_registry(tmp_path / "b"))
