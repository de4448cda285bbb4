"""Every fault of a registry is told with file, line, path, sentence and remedy."""

import pathlib

import pytest
from broken_examples import BROKEN, Broken
from registry_examples import FAR_US, NOW_US, faults, full_registry

from adapters.registry import Loaded, load, stale_schemas
from gateway.domain.fault import Fault
from gateway.testkit.registry_copy import Edit, apply, approve_again, copy_registry


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.title.replace(" ", "-"))
def test_a_broken_registry_has_exactly_the_one_fault(case: Broken, tmp_path: pathlib.Path) -> None:
    directory = full_registry(tmp_path)
    apply(directory, case.edit)
    if case.approve:
        approve_again(directory)
    file = directory / (case.faulty or case.file)
    found = faults(directory)
    assert len(found) == 1, found
    assert (found[0].file, found[0].line, found[0].path) == (str(file), _line(case, file), case.path)
    assert case.sentence in found[0].sentence
    assert case.remedy in found[0].remedy


def _line(case: Broken, file: pathlib.Path) -> int:
    if case.at == "-":
        return 0
    text = file.read_text()
    return text[: text.index(case.at or case.new.splitlines()[0])].count("\n") + 1


def test_there_are_at_least_twenty_broken_examples() -> None:
    assert len(BROKEN) >= 20
    assert len({case.title for case in BROKEN}) == len(BROKEN)


def test_all_faults_of_all_files_are_told_at_once_and_in_order(tmp_path: pathlib.Path) -> None:
    edits = [
        Edit("tenants/acme.yaml", "active: true", "active: yes\nActive: true"),
        Edit("profiles/smollm2-135m.yaml", "max_output: 256", "max_output: none\nmax_outputs: 1"),
        Edit("privacy.yaml", "classes:", "classes: &all"),
        Edit("releases.yaml", "chat@1", "chat@9"),
    ]
    found = faults(full_registry(tmp_path, edits))
    assert found == sorted(found)
    assert [pathlib.Path(f.file).name for f in found] == [
        "privacy.yaml",
        "smollm2-135m.yaml",
        "smollm2-135m.yaml",
        "releases.yaml",
        "acme.yaml",
        "acme.yaml",
    ]


def test_a_broken_file_does_not_break_the_references_to_it(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path, [Edit("profiles/smollm2-135m.yaml", "kind: self_hosted", "kind: hostd")])
    assert [f.path for f in faults(directory)] == ["/kind"]


@pytest.mark.parametrize("name", ["currency.yaml", "privacy.yaml", "releases.yaml"])
def test_a_missing_file_is_a_fault(name: str, tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    (directory / name).unlink()
    assert faults(directory) == [Fault(str(directory / name), 0, "", "The file is missing.", "Add it.")]


@pytest.mark.parametrize(
    ("folder", "sentence"), [("nowhere", "There is no such folder."), ("other", "This folder is not a registry.")]
)
def test_of_another_folder_it_is_told_only_that_it_is_no_registry(
    folder: str, sentence: str, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "main.py").touch()
    (found,) = [*faults(tmp_path / folder), *stale_schemas(tmp_path / folder)]
    assert (found.file, found.sentence) == (str(tmp_path / folder), sentence)
    assert "GATEWAY_REGISTRY" in found.remedy


def test_a_registry_of_which_one_folder_is_left_is_told_what_else_it_needs(tmp_path: pathlib.Path) -> None:
    (tmp_path / "tenants").mkdir()
    assert [pathlib.Path(f.file).name for f in faults(tmp_path)][:2] == ["currency.yaml", "privacy.yaml"]


def test_a_registry_without_tenants_has_a_fault(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path, [Edit("profiles/smollm2-135m.yaml", "  tenants: [acme]", "  tenants: any")])
    for path in (directory / "tenants").iterdir():
        path.unlink()
    assert "The registry has no tenant." in [f.sentence for f in faults(directory)]


@pytest.mark.parametrize("place", ["profiles/x.yaml/inner.yaml", "profiles/inner/x.yaml"])
def test_a_folder_inside_a_folder_is_a_fault(place: str, tmp_path: pathlib.Path) -> None:
    found = faults(copy_registry(tmp_path, [Edit(place, "", "id: x")]))
    assert [f.sentence for f in found] == ["This has no place in the registry."]


@pytest.mark.parametrize(
    "place", ["tenants/acme.yaml", "currency.yaml", "schemas/tenant.schema.json", "profiles", "schemas"]
)
def test_a_link_in_place_of_a_file_or_folder_is_a_fault(place: str, tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    (directory / place).rename(tmp_path / "elsewhere")
    (directory / place).symlink_to(tmp_path / "elsewhere")
    assert [*faults(directory), *stale_schemas(directory)] == [
        Fault(
            str(directory / place),
            0,
            "",
            "This is a link.",
            "Put the file or the folder itself here, or delete the link.",
        )
    ]


@pytest.mark.parametrize("place", ["notes.yaml", "tenants/other.yaml", "schemas/other.json"])
def test_a_link_to_nowhere_is_a_fault(place: str, tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    (directory / place).symlink_to("nowhere")
    assert [(f.file, f.sentence) for f in faults(directory)] == [(str(directory / place), "This is a link.")]


def test_the_registry_itself_may_be_a_link(tmp_path: pathlib.Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(copy_registry(tmp_path))
    assert faults(link) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  score: 1\n", "  score: 0.95\n"),
        ("expires: 2028", "expires: 2027"),
        ("purposes: [drafting, answers]", "purposes: [drafting]"),
        ("privacy_class: internal", "privacy_class: public"),
        ("author: Alex Tan", "author: Alex Tang"),
        ("expires:", "max_attempts: 2\nexpires:"),
    ],
)
def test_a_bundle_that_is_edited_after_its_approvals_is_a_fault_of_each(
    old: str, new: str, tmp_path: pathlib.Path
) -> None:
    directory = full_registry(tmp_path)
    apply(directory, Edit("bundles/mail@2.yaml", old, new))
    found = faults(directory)
    assert [f.path for f in found] == ["/approvals/0/digest", "/approvals/1/digest"]
    file = directory / "bundles" / "mail@2.yaml"
    assert all("digest:" in file.read_text().splitlines()[f.line - 1] for f in found)
    assert all(f.sentence == "The bundle has changed since this approval." for f in found)
    assert all("with the digest sha256:" in f.remedy for f in found)


def test_a_comment_and_a_default_do_not_change_what_was_approved(tmp_path: pathlib.Path) -> None:
    directory = full_registry(tmp_path)
    apply(directory, Edit("bundles/mail@2.yaml", "expires:", "# As agreed.\nmax_attempts: 3\nexpires:"))
    assert faults(directory) == []


def test_an_approval_of_a_bundle_whose_profile_has_changed_is_told_after_the_profile(tmp_path: pathlib.Path) -> None:
    directory = full_registry(tmp_path)
    apply(directory, Edit("profiles/hosted-small.yaml", "max_output: 1000", "max_output: 2000"))
    apply(directory, Edit("bundles/mail@2.yaml", "  score: 1\n", "  score: 0.95\n"))
    bundle = directory / "bundles" / "mail@2.yaml"
    (profile,) = faults(directory)
    bundle.write_text(bundle.read_text().replace(_told(bundle, profile), profile.remedy[-72:-1]))
    first, second = faults(directory)
    assert (first.path, second.path) == ("/approvals/0/digest", "/approvals/1/digest")
    assert first.sentence == "The bundle has changed since this approval."
    bundle.write_text(bundle.read_text().replace(_told(bundle, first), first.remedy[-72:-1]))
    assert faults(directory) == []


def _told(file: pathlib.Path, fault: Fault) -> str:
    """The digest in the line of a fault."""
    return file.read_text().splitlines()[fault.line - 1].split()[-1]


def test_what_has_expired_is_a_warning_and_when_strict_a_fault(tmp_path: pathlib.Path) -> None:
    directory = full_registry(tmp_path)
    loaded = load(directory, at_us=FAR_US)
    assert isinstance(loaded, Loaded)
    run_out = ["/profiles/0/id", "/profiles/1/id", "/evaluation/date", "/expires"]
    bundles = [(name, path) for name in ("assist@1.yaml", "chat@1.yaml", "mail@2.yaml") for path in run_out]
    serving = ("claude-haiku-eu", "gpt-4.1-mini-eu", "hosted-small", "smollm2-135m-a", "smollm2-135m")
    prices = [(f"{name}.yaml", "/prices/checked") for name in serving]
    by_line = {name: [f.path for f in loaded.warnings if pathlib.Path(f.file).name == name] for name, _ in bundles}
    assert all(sorted(paths) == sorted(run_out) for paths in by_line.values())
    assert [(pathlib.Path(f.file).name, f.path) for f in loaded.warnings if "profiles/" in f.file] == prices
    assert len(loaded.warnings) == len(bundles) + len(prices)
    assert faults(directory, at_us=FAR_US, strict=True) == list(loaded.warnings)
    assert faults(directory, at_us=NOW_US, strict=True) == []


def test_an_approval_holds_until_its_last_microsecond_exclusive(tmp_path: pathlib.Path) -> None:
    until = Edit("profiles/smollm2-135m.yaml", "until: 2028-01-01T00:00:00Z", "until: 2027-01-01T00:00:00Z")
    expires = Edit("bundles/chat@1.yaml", "expires: 2028-01-01T00:00:00Z", "expires: 2027-01-01T00:00:00Z")
    directory = copy_registry(tmp_path, [until, expires])
    end_us = 1_798_761_600_000_000  # 2027-01-01T00:00:00Z
    assert faults(directory, at_us=end_us - 1, strict=True) == []
    found = faults(directory, at_us=end_us, strict=True)
    assert [(pathlib.Path(f.file).name, f.path) for f in found] == [
        ("chat@1.yaml", "/profiles/0/id"),
        ("chat@1.yaml", "/expires"),
    ]


def test_one_approval_that_still_holds_is_enough(tmp_path: pathlib.Path) -> None:
    renewed = (
        "approvals:\n  - privacy_class: private\n    by: Kim\n    evidence: Renewed.\n    until: 2999-01-01T00:00:00Z\n"
    )
    edit = Edit("profiles/smollm2-135m.yaml", "approvals:\n", renewed)
    found = faults(copy_registry(tmp_path, [edit]), at_us=FAR_US, strict=True)
    chat = [f.path for f in found if f.file.endswith("chat@1.yaml")]
    assert chat == ["/profiles/1/id", "/evaluation/date", "/expires"]


def test_a_bundle_that_is_not_released_may_have_expired(tmp_path: pathlib.Path) -> None:
    directory = full_registry(tmp_path, [Edit("releases.yaml", "  mail: mail@2\n", "")])
    loaded = load(directory, at_us=FAR_US)
    assert isinstance(loaded, Loaded)
    told = {pathlib.Path(f.file).name for f in loaded.warnings}
    assert {"chat@1.yaml", "assist@1.yaml"} <= told
    assert not {"mail@2.yaml", "hosted-small.yaml"} & told


def test_a_credential_for_a_host_with_its_port_covers_that_port(tmp_path: pathlib.Path) -> None:
    port = [
        Edit("credentials/example-key.yaml", "hosts: [api.example.com]", 'hosts: ["api.example.com:8443"]'),
        Edit("profiles/hosted-small.yaml", "https://api.example.com/v1", "https://api.example.com:8443/v1"),
    ]
    assert faults(full_registry(tmp_path, port)) == []


def test_a_credential_that_nobody_may_read_in_plain_text_needs_https(tmp_path: pathlib.Path) -> None:
    edits = [
        Edit("credentials/example-key.yaml", "hosts: [api.example.com]", 'hosts: ["api.internal:80"]'),
        Edit("profiles/hosted-small.yaml", "https://api.example.com/v1", "http://api.internal/v1"),
        Edit("profiles/hosted-small.yaml", "network: public", "network: private"),
    ]
    assert [f.path for f in faults(full_registry(tmp_path, edits))] == ["/endpoint"]


def test_a_self_hosted_profile_needs_its_engine(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    profile = directory / "profiles" / "smollm2-135m.yaml"
    profile.write_text(profile.read_text().partition("engine:\n")[0])
    approve_again(directory)
    assert [(f.path, f.sentence) for f in faults(directory)] == [("/kind", "A self-hosted profile has no engine.")]
