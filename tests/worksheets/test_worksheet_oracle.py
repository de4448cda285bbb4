"""Our answers to 1,000 random configurations are those of vLLM's own planner, which were asked for once and stored.

``make oracle-vllm`` asks again.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from kv_support import KINDS, plan, weightless

from gateway.domain.worksheets.memory import faults as memory_faults
from gateway.domain.worksheets.memory import plan as memory
from gateway.domain.worksheets.memory.engine_figures import engine_figures, stage_need
from gateway.domain.worksheets.memory.plan import MemoryPlan
from gateway.domain.worksheets.memory.vllm_blocks import Blocks

STORED = Path(__file__).parent / "oracle" / "vllm-0.32.0.jsonl"


@pytest.fixture(scope="module")
def stored() -> list[dict[str, Any]]:
    header, *rows = map(json.loads, STORED.read_text(encoding="utf-8").splitlines())
    assert header == {"engine": "vllm 0.32.0", "command": "make oracle-vllm", "seed": 20261130, "count": len(rows)}
    return rows


def planned(asked: dict[str, Any], **changed: object) -> MemoryPlan:
    kinds = [KINDS[name](*numbers) for name, *numbers in asked["kinds"]]
    return plan(
        weightless(*(kinds[int(kind)] for kind in asked["layers"]), longest=asked["len"]),
        tensor=asked["tp"],
        pipeline=asked["pp"],
        **{
            "kv_format": asked["kv"],
            "tokens": asked["len"],
            "accounting": "vllm>=0.21",
            "block": asked["block"],
            "batched_tokens": asked["batched"],
        }
        | changed,
    )


def answered(asked: dict[str, Any]) -> dict[str, Any]:
    """In the words in which the planner's answers are stored."""
    ours = planned(asked)
    if faults := memory_faults.faults(ours):
        assert [fault.field for fault in faults] == ["tensor_parallel"]
        return {"refused": "heads"}
    found = memory.rules(ours)
    assert isinstance(found, Blocks)
    for stage, available in enumerate(asked["available"]):
        need = stage_need(ours, stage, available)
        if available <= found.block_bytes[stage]:
            return {"refused": "nothing"}
        if not need.starts:
            return {"refused": "memory", "needed": need.needed, "longest": need.longest}
    figures = engine_figures(ours, asked["available"])
    return {
        "blocks": figures.blocks,
        "tokens": figures.tokens,
        "concurrency": float(figures.concurrency),
        "groups": sorted([len(group.pages), group.block] for group in found.groups),
    }


def test_every_answer_is_the_planners(stored: list[dict[str, Any]]) -> None:
    differ = [(number, row) for number, row in enumerate(stored, start=1) if answered(row["asked"]) != row["answer"]]
    assert differ == []


def test_the_questions_are_of_every_kind(stored: list[dict[str, Any]]) -> None:
    assert len(stored) == 1000
    answers = Counter(row["answer"].get("refused", "starts") for row in stored)
    assert answers["starts"] >= 600
    assert answers["memory"] >= 100
    assert answers["heads"] >= 50
    assert answers["nothing"] >= 1
    layouts = Counter("+".join(sorted({kind[0] for kind in row["asked"]["kinds"]})) for row in stored)
    assert min(layouts.values()) >= 10
    assert set(layouts) == {
        *("full", "window", "latent", "full+window", "full+latent", "latent+window", "full+latent+window"),
    }
    assert {row["asked"]["pp"] for row in stored} >= {1, 2, 3, 4, 8}
    assert {row["asked"]["tp"] for row in stored} >= {1, 2, 4, 8, 16}
    formats = Counter(row["asked"]["kv"] for row in stored)
    assert min(formats.values()) >= 5
    assert len(formats) == 10


def test_the_worksheet_says_within_exactly_where_the_engine_starts(stored: list[dict[str, Any]]) -> None:
    compared = 0
    for asked, answer in ((row["asked"], row["answer"]) for row in stored):
        if asked["pp"] > 1 or answer.get("refused") == "heads":
            continue
        compared += 1
        found = memory.compute(planned(asked, device=asked["available"][0]))
        assert found.within == ("refused" not in answer), asked
        if answer.get("refused") == "memory":
            assert found.most_tokens == answer["longest"], asked
            assert found.most_sequences == 0
        elif found.within:
            # The engine's concurrency counts the null block, which no sequence can have.
            one = round(answer["blocks"] / answer["concurrency"])
            assert found.most_sequences == (answer["blocks"] - 1) // one, asked
    assert compared >= 300
