"""A tenant whose requests would all be refused, because no profile is kept for it, is told by ``gateway check``."""

import pathlib

import pytest
from registry_examples import NOW_US, faults, full_registry

from adapters.registry import Loaded, load
from gateway.testkit.registry_copy import EXAMPLE, Edit, copy_registry

PROFILE = "profiles/smollm2-135m.yaml"
KEY = "credentials/example-key.yaml"
ONE = "prefix_cache: single_tenant\n  tenants: [acme]"
SALTED = (
    Edit(PROFILE, "adapter: llama_cpp", "adapter: vllm"),
    Edit(PROFILE, "accounting: llama.cpp", "accounting: vllm>=0.21"),
    Edit(PROFILE, ONE, "prefix_cache: salted\n  salted_by: tenant\n  tenants: [acme, beta]"),
)


def beta(aliases: str = "[chat]", active: str = "true") -> Edit:
    """A copy of the example's tenant, as somebody makes it who adds one."""
    text = (EXAMPLE / "tenants" / "acme.yaml").read_text().replace("id: acme\n", "id: beta\n")
    text = text.replace("providers: [in-house,", "providers: [in-house, example,")
    return Edit(
        "tenants/beta.yaml",
        "",
        text.replace("aliases: [chat, assist]", f"aliases: {aliases}").replace("active: true", f"active: {active}"),
    )


def told(directory: pathlib.Path) -> list[tuple[str, str]]:
    found = faults(directory, at_us=NOW_US, strict=True)
    assert {f.sentence for f in found} <= {"No profile of the released bundle serves this tenant."}
    assert all(f.line and "engine/tenants" in f.remedy for f in found)
    return [(pathlib.Path(f.file).name, f.path) for f in found]


def test_a_copied_tenant_that_no_engine_is_kept_for_is_a_fault(tmp_path: pathlib.Path) -> None:
    directory = full_registry(tmp_path, [beta("[mail, chat]")])
    assert told(directory) == [("beta.yaml", "/aliases/0"), ("beta.yaml", "/aliases/1")]


def test_it_does_not_stop_a_start(tmp_path: pathlib.Path) -> None:
    loaded = load(full_registry(tmp_path, [beta()]), at_us=NOW_US)
    assert isinstance(loaded, Loaded)
    assert [f.path for f in loaded.warnings] == ["/aliases/0"]


@pytest.mark.parametrize(
    ("title", "edits", "faulty"),
    [
        ("added to the engine", [beta("[chat, mail]"), *SALTED], []),
        ("an engine for all", [beta(), Edit(PROFILE, ONE, "prefix_cache: 'off'\n  tenants: any")], []),
        ("added to the credential", [beta("[mail]"), Edit(KEY, "tenants: [acme]", "tenants: [acme, beta]")], []),
        ("switched off", [beta(active="false")], []),
        (
            "the credential of another",
            [
                beta("[mail]"),
                Edit("bundles/mail@2.yaml", f"  - id: smollm2-135m\n    digest: sha256:{'0' * 64}\n", ""),
            ],
            [("beta.yaml", "/aliases/0")],
        ),
    ],
)
def test_engine_and_credential_say_whom_a_profile_serves(
    title: str, edits: list[Edit], faulty: list[tuple[str, str]], tmp_path: pathlib.Path
) -> None:
    assert told(full_registry(tmp_path, edits)) == faulty, title


def test_of_a_profile_with_a_fault_nothing_is_concluded(tmp_path: pathlib.Path) -> None:
    broken = Edit("profiles/hosted-small.yaml", "kind: hosted", "kind: hostd")
    found = faults(full_registry(tmp_path, [beta("[mail]"), broken]), strict=True)
    assert [f.path for f in found] == ["/kind"]


def test_the_only_alias_of_a_tenant_can_be_moved_by_taking_it_away(tmp_path: pathlib.Path) -> None:
    """As docs/registry.md says of the example: "To move an alias from a hosted to a self-hosted bundle"."""
    moved = Edit("releases.yaml", "assist: assist@1", "assist: chat@1")
    taken = Edit("tenants/platform.yaml", "aliases: [assist]", "aliases: []")
    (tmp_path / "moved").mkdir()
    (tmp_path / "taken").mkdir()
    assert told(copy_registry(tmp_path / "moved", [moved])) == [("platform.yaml", "/aliases/0")]
    assert told(copy_registry(tmp_path / "taken", [moved, taken])) == []
