"""What steps talk to. Each door implements it, so that the same words run against services and over HTTP."""

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct

from gateway.domain.profile_state import ProfileActKind
from gateway.domain.reconciliation import ActKind
from gateway.domain.source import SourceAct
from gateway.domain.usage import Usage


class Reply(Struct, frozen=True, kw_only=True):
    """What a caller got: an answer, or a refusal with its code."""

    code: str | None = None
    """None: answered."""
    title: str = ""
    text: str | None = None
    body: bytes = b""
    operation_id: str | None = None
    operation_state: str | None = None
    replayed: bool = False
    param: str | None = None
    fields: tuple[str, ...] = ()
    policy_codes: tuple[tuple[str, int | None], ...] = ()
    """Code, and the index of the caller's own source where it is about one."""
    facts: Mapping[str, Any] = {}
    retry_after_s: int | None = None
    may_retry: bool = True


class Ask(Struct, frozen=True, kw_only=True):
    """One request, in the words of a scenario."""

    question: str = "Is it?"
    key: str | None = "k-1"
    model: str = "chat"
    who: str = "assistant"
    purpose: str | None = None
    sources: tuple[str, ...] = ()
    revision: str = "1"
    """At which all of the sources are cited."""
    changes: dict[str, Any] = {}
    """Further fields of the body, by OpenAI's names."""
    respelt: bool = False
    """The same meaning in another spelling: order of keys, white space, escapes."""


class World(Protocol):
    """One gateway with one engine behind it, fresh for each scenario."""

    def ask(self, ask: Ask) -> Reply: ...

    def ask_at_once(self, asks: list[Ask]) -> list[Reply]: ...

    def start_asking(self, ask: Ask) -> None:
        """Ask in the background, and return when the engine has received the call."""

    def look_at(self, operation_id: str, who: str = "assistant") -> dict[str, Any] | Reply:
        """The operation as its owner sees it, or the refusal."""

    def finish_asking(self) -> Reply:
        """What the one who was left asking got in the end."""

    def act(self, kind: ActKind, operation_id: str, words: str, used: Usage | None = None) -> dict[str, Any] | Reply:
        """What an operator's act made of an operation, or the refusal."""

    def timeline(self, operation_id: str) -> list[str]:
        """Names of what happened to an operation, in order."""

    def take_for_dead(self) -> None:
        """Sweep as if this process had ended, which a sweep of another replica may wrongly believe."""

    def restart(self) -> None:
        """End the gateway and start it again on the same data."""

    # The engine
    def engine_answers(self, text: str) -> None: ...

    def engine_calls_function(self, name: str, arguments: str) -> None:
        """It answers every question with a call of this function."""

    def engine_does(self, behaviour: str) -> None:
        """refuse_connections, busy, reject, drop, slow, hang, time_out"""

    def engine_says_it_used(self, tokens: tuple[int, int] | None) -> None:
        """What it reports of every answer, input and output; None: nothing."""

    def engine_answers_as(self, model: str) -> None: ...

    def engine_shows_other_weights(self) -> None: ...

    def engine_lost_after_reservation(self) -> None: ...

    def engine_loads(self) -> None:
        """It is there, and says that it is not ready yet."""

    def engine_has_room_for(self, sequences: int) -> None:
        """It reports so many slots."""

    # Profiles

    def act_on_profile(self, act: ProfileActKind, profile: str | None = None) -> Reply | None:
        """What an operator does with a profile, the engine's if none is named; the refusal, if it is one."""

    def profile_state(self) -> str:
        """serving, draining or quarantined"""

    def quarantine_shortfall(self) -> tuple[int, int]:
        """What was promised and what the engine reports, as kept with the quarantine of the profile."""

    def seen_engine_state(self) -> str:
        """What the gateway knows of the engine: starting, ready, unready ..."""

    def engine_calls(self) -> list[dict[str, Any]]:
        """Bodies of the generations that the engine received."""

    # Policy, registry, ledger
    def policy_goes_away(self) -> None: ...

    def policy_names(self, profile: str) -> None: ...

    def change_registry(self, change: str) -> None:
        """A key of doors/registry_edits.py."""

    def change_source(self, act: SourceAct) -> Reply | None:
        """Change the directory of sources as an operator does; the refusal, if it is one."""

    def ledger_fails(self, transition: str | None) -> None:
        """reserve, send, save; None: it works again."""

    def held_slots(self) -> int:
        """Slots that are held, in the tenant's scope."""

    def held_tokens(self) -> int:
        """Sum of the reservations that are still held, in the tenant's scope."""

    def booked_tokens(self) -> int:
        """Sum of what was settled in the tenant's scope."""
