"""The mutants: for each promise, the edit that takes its guard out of the Python code.

An edit is small, and its old text stands exactly once in its file; a test holds both to the code of today. Rego has
mutations of its own, in policies/mutations.yaml.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from gateway.testkit.behaviours import PROMISES


class Edit(Struct, frozen=True):
    """One change of one file. ``file`` is relative to the root of the repository."""

    file: str
    old: str
    new: str


class Mutant(Struct, frozen=True, kw_only=True):
    """The code without a guard, and which scenarios have to notice."""

    promise: str
    sentence: str
    """What the code does without it, and what else stands in the way, if anything does."""
    door: str = "service"
    edits: tuple[Edit, ...]

    @property
    def expression(self) -> str:
        """Which scenarios have to catch it: those of its promise, through one door."""
        return f"{self.promise} and {self.door}"


_LOOK_UP = "gateway/service/steps/look_up.py"
_FIRST_REVISION = "adapters/store/migrations/versions/r0001_first.py"
_ONE_EFFECT = (
    Edit("adapters/store/claim.py", "    if same and last_state in REPEATABLE and dispatched", "    if dispatched"),
    Edit(
        "adapters/store/claim.py",
        "place = AlreadyExists() if name in granted_now else _place(batch, claim)",
        "place = _place(batch, claim)",
    ),
)
"""Both, because which of them meets ten requests at once depends on the batches in which they come."""

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        promise="G1",
        sentence="T1 grants a second attempt whatever the first is doing. The database refuses it still.",
        door="http",
        edits=_ONE_EFFECT,
    ),
    Mutant(
        promise="G1",
        sentence="T1 grants a second attempt, and the database has neither its trigger nor its index.",
        door="http",
        edits=(
            *_ONE_EFFECT,
            Edit(_FIRST_REVISION, "CREATE UNIQUE INDEX ux_attempt_effect", "CREATE INDEX ux_attempt_effect"),
            Edit(_FIRST_REVISION, "NEW.n > 1 AND NOT EXISTS", "NEW.n < 1 AND NOT EXISTS"),
        ),
    ),
    Mutant(
        promise="G2",
        sentence="A request is sent although nothing could note that it is being sent.",
        edits=(
            Edit(
                "gateway/service/steps/execute.py",
                "            await self._give_back(grant)\n            return self._not_started(grant)\n",
                "            dispatching = None\n",
            ),
        ),
    ),
    Mutant(
        promise="G3",
        sentence="An answer is shown although it could not be saved.",
        edits=(Edit("gateway/service/steps/persist.py", "if not isinstance(settled, Settled):", "if False:"),),
    ),
    Mutant(
        promise="G4",
        sentence="A key whose answer is saved may have another attempt.",
        edits=(
            Edit(_LOOK_UP, "            case State.COMPLETED:\n", "            case None:\n"),
            Edit(_LOOK_UP, "case State.RELEASED | State.NO_EFFECT if", "case State.COMPLETED if"),
            Edit(
                "gateway/domain/operation.py",
                "REPEATABLE = frozenset({State.RELEASED, State.NO_EFFECT})",
                "REPEATABLE = frozenset({State.RELEASED, State.NO_EFFECT, State.COMPLETED})",
            ),
        ),
    ),
    Mutant(
        promise="G5",
        sentence="What may have happened counts as not having happened.",
        edits=(
            Edit(
                "gateway/domain/budget.py",
                "return Settlement(state=State.UNKNOWN, used=None, basis=None, detail=outcome.reason)",
                "return Settlement(state=State.NO_EFFECT, used=None, basis=None, detail=outcome.reason)",
            ),
        ),
    ),
    Mutant(
        promise="G6",
        sentence="A saved answer is shown whatever policy says of its sources today.",
        door="policy",
        edits=(Edit("gateway/service/replay.py", "if decided.answer.allow is not True:", "if False:"),),
    ),
    Mutant(
        promise="G7",
        sentence="A request may carry fields that nobody reads, such as a destination or a privacy class.",
        door="http",
        edits=(
            Edit(
                "gateway/api/chat_body.py",
                "class Extension(Struct, frozen=True, forbid_unknown_fields=True):",
                "class Extension(Struct, frozen=True):",
            ),
        ),
    ),
    Mutant(
        promise="G8",
        sentence="The output may be longer than the profile's maximum.",
        edits=(Edit("gateway/service/steps/bound.py", "if cap > profile.max_output:", "if False:"),),
    ),
    Mutant(
        promise="G9",
        sentence="What a request reserves itself does not count against the month.",
        door="http",
        edits=(
            Edit(
                "gateway/domain/limits.py",
                "sums.month_tokens + tokens <= most",
                "sums.month_tokens <= most",
            ),
        ),
    ),
    Mutant(
        promise="G10",
        sentence="A policy that names a route outside the approved bundle is believed in the rest.",
        edits=(
            Edit("gateway/service/steps/select.py", "if not set(decided.answer.routes) <= set(approved):", "if False:"),
        ),
    ),
    Mutant(
        promise="G11",
        sentence="The operation key is stored as it is, and not as its hash.",
        door="http",
        edits=(
            Edit(
                "gateway/api/headers.py",
                'return hashlib.sha256(key.encode("ascii")).digest()',
                'return key.encode("ascii").ljust(32)',
            ),
        ),
    ),
    Mutant(
        promise="G12",
        sentence="A profile is ready whatever its engine shows.",
        edits=(
            Edit(
                "gateway/service/readiness.py",
                'return profile.id not in self._marks and self.of(profile).state == "ready"',
                "return profile.id not in self._marks",
            ),
        ),
    ),
    Mutant(
        promise="G12",
        sentence="An engine with fewer slots than were promised serves. Its own queue takes what it cannot hold.",
        door="http",
        edits=(Edit("adapters/transport/llama_cpp.py", "    if found.total_slots < slots:", "    if False:"),),
    ),
)


def faults(root: Path, mutants: tuple[Mutant, ...] = MUTANTS) -> Iterator[str]:
    """Promises without a mutant, and edits that do not apply to the code below ``root``; a sentence each."""
    for promise in PROMISES.keys() - {mutant.promise for mutant in mutants}:
        yield f"{promise} has no mutant: {PROMISES[promise]}"
    for mutant in mutants:
        if mutant.promise not in PROMISES:
            yield f"{mutant.promise} is no promise."
        for edit in mutant.edits:
            path = root / edit.file
            times = path.read_text(encoding="utf-8").count(edit.old) if path.is_file() else 0
            if times != 1:
                yield (
                    f"{mutant.promise}: the old text occurs {times} times in {edit.file}, not once: {edit.old.strip()}"
                )


def apply(mutant: Mutant, root: Path) -> None:
    """Change the tree at ``root``, which is a copy."""
    for edit in mutant.edits:
        path = root / edit.file
        path.write_text(path.read_text(encoding="utf-8").replace(edit.old, edit.new), encoding="utf-8")
