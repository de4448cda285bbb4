"""What was measured, printed at the end of a run."""


class Figures:
    """A line for each."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def tell(self, line: str) -> None:
        self._lines.append(line)
