"""Opens a store, commits T1 for one operation and T2 for another, says so, and waits to be killed."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from contract.ledger_ends import dispatched, granted, outcome, put_keys
from store_support import StoreEnds

from gateway.domain.operation import State


async def main() -> None:
    ends = StoreEnds(Path(sys.argv[1]))
    await put_keys(ends)
    unsent = await granted(ends, "unsent")
    sent = await dispatched(ends, "sent")
    done = await dispatched(ends, "done")
    await ends.ledger.settle(outcome(done.dispatch_id, State.COMPLETED))
    print(unsent.operation_id, sent.operation_id, done.operation_id, flush=True)
    await asyncio.sleep(60)


asyncio.run(main())
