"""What an operator writes is for operators: an owner sees that something was done, not who did it and why."""

import json

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.world import Ask


def test_only_operators_read_who_closed_an_operation_and_why(world: HttpWorld) -> None:
    world.engine_does("drop")
    lost = world.ask(Ask())
    assert lost.operation_id is not None
    world.act("write_off", lost.operation_id, "CANARY-W")
    seen = {}
    for who in ("assistant", "operator"):
        headers = {"Authorization": f"Bearer {world.token(who)}"}
        status, _, body = world.request("GET", f"/v1/operations/{lost.operation_id}/timeline", headers)
        assert status == 200
        seen[who] = json.loads(body)["data"][-1]
    assert (seen["operator"]["facts"]["by"], seen["operator"]["facts"]["words"]) == ("system/operator", "CANARY-W")
    assert seen["assistant"]["event"] == seen["operator"]["event"] == "closed"
    assert "CANARY" not in json.dumps(seen["assistant"])
    assert "operator" not in json.dumps(seen["assistant"])
