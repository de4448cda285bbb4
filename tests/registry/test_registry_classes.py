"""Privacy classes: their order, and what a bundle's class asks of its profiles and of its evaluation."""

import pathlib
from collections.abc import Iterable

import pytest
from registry_examples import NOW_US, faults, full_registry

from adapters.registry import Loaded, load
from gateway.testkit.registry_copy import EXAMPLE, Edit, copy_registry

PRIVACY = "privacy.yaml"
TEXT = (EXAMPLE / PRIVACY).read_text()
SMOL = "profiles/smollm2-135m.yaml"
CHAT = "bundles/chat@1.yaml"
ATTESTS = "attest_revision: true\n  fingerprint: smollm2-q4-1"
DAY_US = 86_400 * 1_000_000


def with_private(old: str, new: str) -> Edit:
    """The example's classes with one requirement of the strictest one changed."""
    head, mark, tail = TEXT.partition("  - id: private\n")
    assert tail.count(old) == 1, old
    return Edit(PRIVACY, "", head + mark + tail.replace(old, new))


def warned(tmp_path: pathlib.Path, edits: Iterable[Edit], at_us: int = NOW_US) -> list[tuple[str, str, str]]:
    """What a start is warned of; with ``strict`` just that is a fault."""
    directory = copy_registry(tmp_path, edits)
    loaded = load(directory, at_us=at_us)
    assert isinstance(loaded, Loaded), loaded
    assert faults(directory, at_us=at_us, strict=True) == list(loaded.warnings)
    assert all(fault.line > 0 for fault in loaded.warnings)
    return [(pathlib.Path(f.file).name, f.path, f.sentence) for f in loaded.warnings]


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        ("networks", "networks: [loopback, private]", "networks: [public, loopback, private]"),
        ("longest_retention_days", "longest_retention_days: 0", "longest_retention_days: 2"),
        ("training_allowed", "training_allowed: false", "training_allowed: true"),
        ("time_sharing_allowed", "time_sharing_allowed: false", "time_sharing_allowed: true"),
        ("attestation_required", "attestation_required: false", "attestation_required: false"),
        ("least_score", "least_score: 0.6", "least_score: 0.5"),
        ("most_refusals", "most_refusals: 0.05", "most_refusals: 0.06"),
        ("longest_evaluation_days", "longest_evaluation_days: 400", "longest_evaluation_days: 401"),
        ("longest_facts_s", "longest_facts_s: 604800", "longest_facts_s: 604801"),
    ],
)
def test_a_stricter_class_that_asks_for_less_is_a_fault_that_names_the_requirement(
    key: str, old: str, new: str, tmp_path: pathlib.Path
) -> None:
    """Against a class before it that asks for exactly as much as ``private`` does."""
    _, mark, private = TEXT.partition("  - id: private\n")
    laxer = (mark + private).replace("id: private", "id: internal")
    laxer = laxer.replace("attestation_required: false", f"attestation_required: {str(key.startswith('att')).lower()}")
    text = "classes:\n" + laxer + "  - id: public\n" + private + mark + private.replace(old, new)
    others = [
        Edit(SMOL, "attest_revision: false", ATTESTS),
        Edit("releases.yaml", "  assist: assist@1\n", "  assist: chat@1\n"),
    ]
    found = faults(copy_registry(tmp_path, [Edit(PRIVACY, "", text), *others]))
    expected = [("/classes/2/" + key, f"The class asks for less in {key} than a class before it.")]
    if key == "attestation_required":  # the class between them asks for none either
        expected.insert(0, ("/classes/1/" + key, expected[0][1]))
    assert [(f.path, f.sentence) for f in found] == expected
    lines = text.splitlines()
    assert all(lines[f.line - 1].strip().startswith(key) for f in found)


def test_the_same_in_all_is_no_fault(tmp_path: pathlib.Path) -> None:
    _, mark, private = TEXT.partition("  - id: private\n")
    same = "".join((mark + private).replace("id: private", f"id: {name}") for name in ("public", "internal", "private"))
    assert faults(copy_registry(tmp_path, [Edit(PRIVACY, "", "classes:\n" + same)])) == []


def test_classes_in_the_wrong_order_are_found_by_what_they_ask_for(tmp_path: pathlib.Path) -> None:
    head, public, rest = TEXT.partition("  - id: public\n")
    internal_at, private_at = rest.index("  - id: internal"), rest.index("  - id: private")
    turned = head + rest[private_at:] + rest[internal_at:private_at] + public + rest[:internal_at]
    found = [f for f in faults(copy_registry(tmp_path, [Edit(PRIVACY, "", turned)])) if f.file.endswith(PRIVACY)]
    assert {f.path.split("/")[2] for f in found} == {"1", "2"}
    assert {f.path.split("/")[3] for f in found} >= {"networks", "longest_retention_days", "training_allowed"}


def test_a_class_that_is_named_twice_is_a_fault(tmp_path: pathlib.Path) -> None:
    text = TEXT + TEXT[TEXT.index("  - id: private\n") :]
    (found,) = faults(copy_registry(tmp_path, [Edit(PRIVACY, "", text)]))
    assert (found.path, found.sentence) == ("/classes/3/id", "An earlier item has the same id.")


NETWORK = "the class does not allow its network"
RETENTION = "its retention_days are above longest_retention_days"


@pytest.mark.parametrize(
    ("edits", "lacking"),
    [
        ([with_private("[loopback, private]", "[private]")], [NETWORK, NETWORK]),
        ([Edit(SMOL, "retention_days: 0", "retention_days: 1")], [RETENTION]),
        ([Edit(SMOL, "trains_on_data: false", "trains_on_data: true")], ["its endpoint trains on data"]),
        ([Edit(SMOL, "sharing: exclusive", "sharing: time_shared")], ["the device of its engine is time_shared"]),
        (
            [
                with_private("attestation_required: false", "attestation_required: true"),
                Edit(SMOL, "attest_revision: false", ATTESTS),
            ],
            ["no engine attests its revision"],
        ),
    ],
)
def test_a_profile_that_cannot_serve_the_class_of_its_bundle_is_told_at_its_line(
    edits: list[Edit], lacking: list[str], tmp_path: pathlib.Path
) -> None:
    found = warned(tmp_path, edits)
    assert {name for name, _, _ in found} == {"chat@1.yaml"}
    told = [sentence.removesuffix(".").split("served by this profile: ")[1] for _, _, sentence in found]
    assert told == lacking
    if len(lacking) == 2:
        assert [path for _, path, _ in found] == ["/profiles/0/id", "/profiles/1/id"]


def test_a_hosted_profile_in_a_private_bundle_is_told_all_that_is_wrong(tmp_path: pathlib.Path) -> None:
    edits = [
        Edit("bundles/assist@1.yaml", "privacy_class: internal", "privacy_class: private"),
        *(
            Edit(f"profiles/{name}.yaml", "privacy_class: internal", "privacy_class: private")
            for name in ("gpt-4.1-mini-eu", "claude-haiku-eu")
        ),
        with_private("attestation_required: false", "attestation_required: true"),
        Edit(SMOL, "attest_revision: false", ATTESTS),
        Edit("profiles/smollm2-135m-a.yaml", "attest_revision: false", ATTESTS),
    ]
    found = warned(tmp_path, edits)
    assert {name for name, _, _ in found} == {"assist@1.yaml"}
    assert [path for _, path, _ in found] == ["/profiles/0/id"] * 3 + ["/profiles/1/id"] * 3


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("score: 0.62", "score: 0.59", "/evaluation/score"),
        ("refusal_rate: 0.03", "refusal_rate: 0.06", "/evaluation/refusal_rate"),
    ],
)
def test_an_evaluation_that_is_not_good_enough_for_the_class_is_told(
    old: str, new: str, path: str, tmp_path: pathlib.Path
) -> None:
    assert [(name, where) for name, where, _ in warned(tmp_path, [Edit(CHAT, old, new)])] == [("chat@1.yaml", path)]


def test_exactly_what_the_class_asks_for_is_enough(tmp_path: pathlib.Path) -> None:
    edits = [Edit(CHAT, "score: 0.62", "score: 0.6"), Edit(CHAT, "refusal_rate: 0.03", "refusal_rate: 0.05")]
    assert warned(tmp_path, edits) == []


EVALUATED_US = 1_795_996_800_000_000
"""2026-11-30T00:00:00Z"""


def test_an_evaluation_counts_to_the_end_of_its_days(tmp_path: pathlib.Path) -> None:
    days = with_private("longest_evaluation_days: 400", "longest_evaluation_days: 30")
    end_us = EVALUATED_US + 30 * DAY_US
    assert warned(tmp_path / "a", [days], end_us - 1) == []
    (found,) = warned(tmp_path / "b", [days], end_us)
    assert found[:2] == ("chat@1.yaml", "/evaluation/date")


def test_prices_that_nobody_has_checked_for_400_days_are_told_of_profiles_that_serve(tmp_path: pathlib.Path) -> None:
    unreleased = Edit("releases.yaml", "  mail: mail@2\n", "")
    old = Edit("profiles/hosted-small.yaml", "checked: 2026-11-30", "checked: 2020-01-01")
    assert faults(full_registry(tmp_path / "a", [old, unreleased]), strict=True) == []
    (found,) = faults(full_registry(tmp_path / "b", [old]), strict=True)
    assert (found.path, found.sentence) == ("/prices/checked", "Nobody has compared these prices for 400 days.")
    day = Edit("profiles/hosted-small.yaml", "checked: 2026-11-30", "checked: 2026-02-03")
    end_us = EVALUATED_US + 100 * DAY_US
    assert faults(full_registry(tmp_path / "c", [day]), at_us=end_us - 1, strict=True) == []
    assert len(faults(full_registry(tmp_path / "d", [day]), at_us=end_us, strict=True)) == 1


def test_prices_checked_on_a_day_to_come_are_told(tmp_path: pathlib.Path) -> None:
    found = warned(tmp_path, [Edit(SMOL, "checked: 2026-11-30", "checked: 2026-12-01")])
    assert found == [("smollm2-135m.yaml", "/prices/checked", "This day has not come yet.")]


def test_a_day_has_come_when_it_has_begun_in_utc(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    assert faults(directory, at_us=EVALUATED_US, strict=True) == []
    early = faults(directory, at_us=EVALUATED_US - 1, strict=True)
    assert {f.sentence for f in early} == {"This day has not come yet."}
