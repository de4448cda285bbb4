"""The capacity block in the files: what it needs, which architecture it means, and what the check tells."""

import hashlib
import json
import os
import pathlib
import re

import pytest
from registry_examples import MEASURED, NOW_US, SELF_HOSTED_A, capacity_of, digest, faults, full_registry

from adapters.registry import Loaded, load, profile_digest
from adapters.registry.architectures import MOST_BYTES
from gateway.domain.fault import Fault
from gateway.testkit.registry_copy import EXAMPLE, PROFILE, Edit, approve_again, copy_registry, slots

SMOL = "architectures/smollm2-135m.json"
CONFIG = json.loads((EXAMPLE / SMOL).read_text())
HELD = 9
"""Sequences of 2,048 tokens that the example's device holds beside the weights and the reserve."""


def to(old: str, new: str) -> Edit:
    return Edit(PROFILE, old, new)


def line_of(directory: pathlib.Path, text: str, file: str = PROFILE) -> int:
    whole = (directory / file).read_text()
    assert whole.count(text) == 1
    return whole[: whole.index(text)].count("\n") + 1


def told(directory: pathlib.Path) -> list[tuple[str, str]]:
    return [(pathlib.Path(fault.file).name, fault.path) for fault in faults(directory)]


def described(directory: pathlib.Path, text: bytes, file: str = "smollm2-135m.json") -> None:
    (directory / "architectures" / file).write_bytes(text)


def test_a_concurrency_beyond_the_memory_is_told_with_file_line_numbers_and_remedy(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path, [to("concurrency: 2", "concurrency: 10")])
    (fault,) = faults(directory)
    assert fault.file == str(directory / PROFILE)
    assert (fault.line, fault.path) == (line_of(directory, "concurrency: 10"), "/limits/concurrency")
    sizes = re.findall(r"([0-9]+\.[0-9]{2}) GiB", fault.sentence)
    needed, device, excess, weights, kv, reserve = map(float, sizes)
    assert fault.sentence.startswith("10 sequences of 2,048 tokens need ")
    # 30 layers x 2 x 3 heads x 64 x 2 B = 23,040 B a token.
    assert (device, kv, reserve) == (1.00, round(10 * 2048 * 23_040 / 2**30, 2), 0.50)
    assert needed == pytest.approx(weights + kv + reserve, abs=0.011)
    assert excess == pytest.approx(needed - device, abs=0.011)
    assert f"at most {HELD} at this context" in fault.remedy
    assert faults(copy_registry(tmp_path / "9", [to("concurrency: 2", f"concurrency: {HELD}")])) == []


def test_an_unlimited_concurrency_points_to_the_context(tmp_path: pathlib.Path) -> None:
    edits = [to("concurrency: 2", "concurrency: unlimited"), to('device_gib: "1"', 'device_gib: "0.6"')]
    directory = copy_registry(tmp_path, edits)
    (fault,) = faults(directory)
    assert (fault.path, fault.line) == ("/context_window", line_of(directory, "context_window: 2048"))


def test_more_memory_holds_more(tmp_path: pathlib.Path) -> None:
    assert faults(copy_registry(tmp_path, slots(1000))) == []


def test_a_registry_that_promises_too_much_does_not_load(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path, [to("concurrency: 2", "concurrency: 10")])
    assert not isinstance(load(directory, at_us=NOW_US), Loaded)


@pytest.mark.parametrize("file", [PROFILE, SELF_HOSTED_A])
def test_an_engine_without_a_capacity_is_a_fault(file: str, tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path, [Edit(file, capacity_of(file), "")])
    (fault,) = faults(directory)
    assert (fault.path, fault.line) == ("/engine", line_of(directory, "engine:\n", file))
    assert fault.sentence == "The key capacity is missing."
    assert "docs/registry.md" in fault.remedy


@pytest.mark.parametrize(
    ("old", "new", "path", "words"),
    [
        (
            "basis: arithmetic",
            "basis: guessed",
            "/engine/capacity/basis",
            ("none of the words", "arithmetic, measured"),
        ),
        ("basis: arithmetic", "basis: 7", "/engine/capacity/basis", ("none of the words", "arithmetic, measured")),
        ("    basis: arithmetic\n", "", "/engine/capacity", ("key basis is missing", "arithmetic, measured")),
        (capacity_of(PROFILE), "  capacity: 24\n", "/engine/capacity", ("none of the forms", "Write a mapping.")),
        ('device_gib: "1"', "device_gib: 1", "/engine/capacity/device_gib", ("not a string", "quotes")),
        (
            'device_gib: "1"',
            'device_gib: "1 GiB"',
            "/engine/capacity/device_gib",
            ("not have the form", "not its label"),
        ),
        ('device_gib: "1"', 'device_gib: "-1"', "/engine/capacity/device_gib", ("not have the form", "decimal string")),
        (
            'device_gib: "1"',
            'device_gib: "1e9"',
            "/engine/capacity/device_gib",
            ("not have the form", "decimal string"),
        ),
        (
            "accounting: llama.cpp",
            "accounting: arithmetic",
            "/engine/capacity/accounting",
            ("none of the words", "vllm"),
        ),
        (
            "accounting: llama.cpp",
            "accounting: vllm<0.21",
            "/engine/capacity/accounting",
            ("not the rules", "llama.cpp"),
        ),
        (
            "    basis: arith",
            "    kv_tokens: 9\n    basis: arith",
            "/engine/capacity/kv_tokens",
            ("not known", "block_tokens"),
        ),
        ("    count: 1\n", "    count: 2\n", "/engine/placement/count", ("divided among 1 devices", "tensor_parallel")),
        ("weights_format: q4_1", "weights_format: Q4_1", "/engine/weights_format", ("no such format", "q4_1")),
        ("kv_format: fp16", "kv_format: f16", "/engine/kv_format", ("no such format", "fp16")),
    ],
)
def test_a_capacity_that_cannot_be_judged_is_told_at_its_place(
    old: str, new: str, path: str, words: tuple[str, str], tmp_path: pathlib.Path
) -> None:
    (fault,) = faults(copy_registry(tmp_path, [to(old, new)]))
    assert (fault.path, fault.line > 0) == (path, True)
    assert words[0] in fault.sentence
    assert words[1] in fault.remedy


@pytest.mark.parametrize("name", ["../profiles/smollm2-135m.json", "/etc/hosts.json", "a/b.json", ".hidden.json", "a"])
def test_a_name_leads_nowhere_else(name: str, tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path, [to("architecture: smollm2-135m.json@", f"architecture: {name}@")])
    (fault,) = faults(directory)
    assert (fault.path, fault.sentence) == (
        "/engine/capacity/architecture",
        "This does not have the form that is needed.",
    )


def test_a_measured_capacity_counts_instead(tmp_path: pathlib.Path) -> None:
    assert faults(full_registry(tmp_path)) == []
    fewer = full_registry(tmp_path / "fewer", [Edit(SELF_HOSTED_A, "kv_tokens: 4096", "kv_tokens: 4095")])
    (fault,) = faults(fewer)
    assert (fault.path, fault.line) == ("/limits/concurrency", line_of(fewer, "concurrency: 2", SELF_HOSTED_A))


def test_a_measurement_is_not_one_of_tomorrow(tmp_path: pathlib.Path) -> None:
    of_tomorrow = MEASURED.replace("date: 2026-11-30", "date: 2026-12-31")
    directory = copy_registry(tmp_path, [Edit(SELF_HOSTED_A, capacity_of(SELF_HOSTED_A), of_tomorrow)])
    (fault,) = faults(directory)
    assert (fault.path, fault.sentence) == ("/engine/capacity/date", "This day has not come yet.")


# The architecture's file


def test_who_changes_the_architecture_needs_an_approval(tmp_path: pathlib.Path) -> None:
    """Half of the layers would have half of the KV state: the numbers are what was approved."""
    directory = copy_registry(tmp_path)
    before = digest(directory)
    text = json.dumps(CONFIG | {"num_hidden_layers": 15}).encode()
    described(directory, text)
    changed = faults(directory)
    assert [(fault.path, fault.sentence) for fault in changed] == [
        ("/engine/capacity/architecture", "The architecture's file is not the one that the profile names.")
    ] * 2
    new = "sha256:" + hashlib.sha256(text).hexdigest()
    assert all(f"smollm2-135m.json@{new}" in fault.remedy for fault in changed)
    for file in (PROFILE, SELF_HOSTED_A):
        profile = directory / file
        profile.write_text(re.sub(r"(smollm2-135m\.json@)sha256:[0-9a-f]{64}", rf"\g<1>{new}", profile.read_text()))
    assert told(directory) == [("chat@1.yaml", "/profiles/0/digest"), ("chat@1.yaml", "/profiles/1/digest")]
    approved = copy_registry(tmp_path / "approved", [])
    described(approved, text)
    for file in (PROFILE, SELF_HOSTED_A):
        (approved / file).write_text((directory / file).read_text())
    approve_again(approved)
    assert digest(approved) != before


def test_a_comment_or_an_unused_architecture_changes_nothing_that_is_approved(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    described(directory, json.dumps(CONFIG | {"num_hidden_layers": 2}).encode(), "another.json")
    assert digest(directory) == digest(EXAMPLE)


@pytest.mark.parametrize(
    ("text", "key", "sentence"),
    [
        (b"", "", "not JSON"),
        (b"[]", "", "not a JSON object"),
        (b"[" * 100_000, "", "not JSON"),
        (b"\xff\xfe{}", "", "not UTF-8"),
        (b" " * (MOST_BYTES + 1), "", "too large"),
        (b"{}", "/model_type", ""),
        (json.dumps(CONFIG | {"model_type": "CANARY-layout"}).encode(), "/model_type", "not modelled"),
        (json.dumps({k: v for k, v in CONFIG.items() if k != "num_hidden_layers"}).encode(), "/num_hidden_layers", ""),
        (json.dumps(CONFIG | {"num_hidden_layers": "CANARY"}).encode(), "/num_hidden_layers", ""),
        (json.dumps(CONFIG | {"num_hidden_layers": -1}).encode(), "/num_hidden_layers", ""),
    ],
)
def test_a_file_that_describes_nothing_is_told_once_with_its_key(
    text: bytes, key: str, sentence: str, tmp_path: pathlib.Path
) -> None:
    directory = copy_registry(tmp_path)
    described(directory, text)
    (fault,) = faults(directory)
    assert (fault.file, fault.path) == (str(directory / SMOL), key)
    assert sentence in fault.sentence
    assert fault.remedy
    assert "CANARY" not in str(fault) or key == "/model_type"


@pytest.mark.parametrize("character", ["\u202e", "\u2066", "\u200b", "\u2028", "\x85", "\r"])
def test_a_character_that_nobody_sees_is_told_with_its_line(character: str, tmp_path: pathlib.Path) -> None:
    """With it a diff shows other numbers than the ones that are computed with."""
    directory = copy_registry(tmp_path)
    text = (directory / SMOL).read_text().split("\n")
    text[2] = text[2][:4] + character + text[2][4:]
    described(directory, "\n".join(text).encode())
    (fault,) = faults(directory)
    assert (fault.file, fault.line, fault.path) == (str(directory / SMOL), 3, "")
    assert "a character that nobody sees" in fault.sentence


def test_tabs_and_the_line_ends_of_another_system_are_seen(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    text = (directory / SMOL).read_text()
    described(directory, text.replace("  ", "\t").replace("\n", "\r\n").encode())
    assert {fault.path for fault in faults(directory)} == {"/engine/capacity/architecture"}


def test_a_broken_architecture_hides_no_other_fault(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path, [to("kv_format: fp16", "kv_format: f16")])
    described(directory, b"{")
    assert told(directory) == [("smollm2-135m.json", ""), ("smollm2-135m.yaml", "/engine/kv_format")]


def test_an_architecture_that_is_not_there_is_told_where_it_is_named(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path, [Edit(SMOL, "", "")])
    found = faults(directory)
    assert {fault.path for fault in found} == {"/engine/capacity/architecture"}
    assert {fault.sentence for fault in found} == {"There is no such architecture."}
    assert len(found) == 2


def test_a_link_is_told_once_and_not_followed(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    (directory / SMOL).unlink()
    (tmp_path / "elsewhere.json").write_text("what a reader would stumble over")
    (directory / SMOL).symlink_to(tmp_path / "elsewhere.json")
    (fault,) = faults(directory)
    assert (fault.file, fault.sentence) == (str(directory / SMOL), "This is a link.")


def test_a_file_that_nobody_may_read_is_a_fault(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = copy_registry(tmp_path)
    opened = pathlib.Path.open

    def refuses(self: pathlib.Path, *args: object, **kwargs: object) -> object:
        if self == directory / SMOL:
            raise PermissionError(13, "Permission denied")
        return opened(self, *args, **kwargs)  # type: ignore[call-overload]

    # Tests may run as root, whom no permission keeps out.
    monkeypatch.setattr(pathlib.Path, "open", refuses)
    (fault,) = faults(directory)
    assert (fault.file, fault.sentence) == (str(directory / SMOL), "The file cannot be read.")


@pytest.mark.parametrize("name", ["README.md", "Upper.json", ".hidden.json", "notes.yaml", "folder.json/"])
def test_what_no_profile_can_name_has_no_place_among_architectures(name: str, tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    path = directory / "architectures" / name.rstrip("/")
    if name.endswith("/"):
        path.mkdir()
    else:
        path.write_text("{}")
    assert faults(directory) == [
        Fault(
            file=str(path),
            line=0,
            path="",
            sentence="This has no place in the registry.",
            remedy="Remove it, or name it KIND/ID.yaml in one of its folders; architectures end in .json.",
        )
    ]


def test_a_pipe_is_not_waited_for(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    os.mkfifo(directory / "architectures" / "pipe.json")
    (fault,) = faults(directory)
    assert fault.sentence == "This has no place in the registry."


def test_the_digest_of_a_profile_has_the_basis_in_it(tmp_path: pathlib.Path) -> None:
    measured = copy_registry(tmp_path, [Edit(PROFILE, capacity_of(PROFILE), MEASURED)])
    assert profile_digest(measured, "smollm2-135m") != profile_digest(EXAMPLE, "smollm2-135m")
    written_out = copy_registry(
        tmp_path / "2", [to("accounting: llama.cpp\n", "accounting: llama.cpp\n    block_tokens: 16\n")]
    )
    assert profile_digest(written_out, "smollm2-135m") == profile_digest(EXAMPLE, "smollm2-135m")
