"""The scripted provider of the harness: it misbehaves as the seed says, and keeps what it saw."""

import time
from collections import Counter
from collections.abc import Callable

from gateway.domain.canary import CANARY_TEXT
from gateway.testkit.faults import misbehaviour
from gateway.testkit.faults.records import Seen
from gateway.testkit.faults.witness import Witness
from gateway.testkit.provider.connection import Connection, Received
from gateway.testkit.provider.server import GENERATION_PATHS, EngineFace, Provider

FACE = EngineFace(
    alias="smollm2-135m@q4_1", model_path="/models/SmolLM2-135M-Instruct.Q4_1.gguf", context=2048, slots=4096
)


WELL = "answers"
"""The behaviour that is none of the misbehaviours."""


class FaultProvider(Provider):
    """``on_generation`` is told after a request was noted and before it is answered."""

    def __init__(self, seed: int, witness: Witness) -> None:
        super().__init__(face=FACE, keep=False)
        self._seed = seed
        self._witness = witness
        self._asked: Counter[str] = Counter()
        self.seen: list[Seen] = []
        self.on_generation: Callable[[], None] = lambda: None

    def _serve(self, connection: Connection, request: Received) -> None:
        if request.path in GENERATION_PATHS:
            self._note(request)
            self.on_generation()
        super()._serve(connection, request)
        self.others.clear()

    def _note(self, request: Received) -> None:
        label: str = request.json()["messages"][0]["content"]
        dispatch_id = request.headers.get("x-request-id", "")
        if label == CANARY_TEXT:
            # One for each server, and the provider answers it by itself.
            label, chosen = f"canary {dispatch_id}", WELL
        else:
            chosen = misbehaviour.choose(self._seed, label, self._asked[label])
            self._asked[label] += 1
            self.script(misbehaviour.ALL[chosen].behaviour)
        self._witness.look_at_slots()
        self.seen.append(
            Seen(
                at_s=time.monotonic(),
                dispatch_id=dispatch_id,
                label=label,
                behaviour=chosen,
                executed=misbehaviour.ALL[chosen].executed,
                state=self._witness.state_of(dispatch_id),
            )
        )
