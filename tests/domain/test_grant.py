"""A grant is spent once, by one step, and made by one step."""

import ast
from pathlib import Path

import pytest

from gateway.domain.budget import Reservation
from gateway.domain.errors import GrantAlreadySpent
from gateway.domain.grant import FreshGrant, unsendable
from gateway.domain.message import UserMessage
from gateway.domain.operation import Identity
from gateway.domain.profile import Profile
from gateway.domain.request import Request

ROOT = Path(__file__).parents[2]
REQUEST = Request(model="chat", messages=(UserMessage("Hello?"),))


def test_a_grant_is_spent_once(profile: Profile) -> None:
    grant = FreshGrant(
        identity=Identity("acme", "assistant", bytes(32)),
        operation_id="o",
        attempt=1,
        dispatch_id="d",
        profile=profile,
        reserved=Reservation(input=9, output=5),
        made_s=0.0,
    )
    dispatch = grant.spend(REQUEST, send_by_s=1.0)
    assert (dispatch.dispatch_id, dispatch.output_cap) == ("d", 5)
    with pytest.raises(GrantAlreadySpent):
        grant.spend(REQUEST, send_by_s=1.0)


def test_what_a_translation_is_tried_on_can_not_be_sent_any_more(profile: Profile) -> None:
    assert unsendable(profile, REQUEST).send_by_s < 0.0  # before the machine was started


@pytest.mark.parametrize(
    ("called", "only_in"),
    [
        ("FreshGrant", {"gateway/service/steps/reserve.py"}),
        ("spend", {"gateway/service/steps/execute.py"}),
        ("Dispatch", {"gateway/domain/grant.py"}),
        ("unsendable", {"adapters/transport/hosted_trial.py"}),
    ],
)
def test_grants_and_dispatches_are_made_in_one_place(called: str, only_in: set[str]) -> None:
    """Promise G4: whoever has no grant cannot dispatch."""
    found = set()
    for package in ("gateway", "adapters"):
        for path in (ROOT / package).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            if name.startswith(("gateway/testkit/", "gateway/bench/")):
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and _name(node.func) == called:
                    found.add(name)
    assert found == only_in


def _name(function: ast.expr) -> str | None:
    match function:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name):
            return name
        case _:
            return None
