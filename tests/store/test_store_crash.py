"""kill -9 of a real process, and what the next one finds (the crash table of the design)."""

import asyncio
import subprocess
import sys
from pathlib import Path

from contract.ledger_ends import a_claim, nobody
from store_support import StoreEnds, empty_database

from adapters.store import database
from gateway.domain.operation import State
from gateway.ports.ledger import AlreadyExists, Granted, Swept

CHILD = Path(__file__).with_name("crashing_child.py")


def test_after_kill_9_the_unsent_is_released_and_the_sent_is_unknown(tmp_path: Path) -> None:
    (tmp_path / database.FILE).write_bytes(empty_database())
    with subprocess.Popen([sys.executable, CHILD, tmp_path], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        unsent, sent, done = child.stdout.readline().split()
        child.kill()
    ends = StoreEnds(tmp_path)

    async def resume() -> None:
        states = [(await ends.operations.get(op)).last.state for op in (unsent, sent, done)]
        assert states == [State.GRANTED, State.DISPATCHING, State.COMPLETED]
        swept = await ends.ledger.sweep(nobody, earlier_incarnations=True)
        assert (len(swept.released), len(swept.unknown)) == (1, 1)
        states = [(await ends.operations.get(op)).last.state for op in (unsent, sent, done)]
        assert states == [State.RELEASED, State.UNKNOWN, State.COMPLETED]
        assert await ends.ledger.sweep(nobody, earlier_incarnations=True) == Swept((), ())
        assert await ends.ledger.claim(a_claim("unsent")) == Granted(unsent, 2)
        assert await ends.ledger.claim(a_claim("sent")) == AlreadyExists()
        assert await ends.ledger.claim(a_claim("done")) == AlreadyExists()

    asyncio.run(resume())
    assert ends.store.verify() == []
    ends.store.close()
