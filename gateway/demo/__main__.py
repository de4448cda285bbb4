"""``make demo``: OPA, SQLite and SmolLM2 really run; answers, replays, conflicts, unknowns and a crash."""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from gateway.demo.story import Story
from gateway.demo.surroundings import surroundings
from gateway.domain.errors import StartRefused


def main() -> None:
    """Tell the story in a folder of its own, which is removed at the end."""
    console = Console(width=min(100, shutil.get_terminal_size().columns), highlight=False)
    started = time.monotonic()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="gateway-demo-") as folder,
            surroundings(Path(folder), console) as place,
        ):
            Story(console, place).tell()
    except StartRefused as refused:
        console.print(str(refused), style="bold red", markup=False)
        sys.exit(1)
    console.print(
        f"\nThe demo took {time.monotonic() - started:.0f} s. README.md says how to run the gateway for yourself."
    )


if __name__ == "__main__":
    main()
