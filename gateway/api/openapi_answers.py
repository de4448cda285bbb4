"""The shape of every answer, as the OpenAPI document tells it. Nothing is rendered from these structs: tests hold
the real answers to them, closed, so that neither side can have a field that the other lacks.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gateway.domain.completion import FinishReason
from gateway.domain.operation import State
from gateway.domain.tools import ToolCall
from gateway.ports.reads import TimelineEntry
from gateway.ports.transport import ReadinessState

Micros = Annotated[int, Meta(description="Microseconds since 1970, UTC.")]
Cost = Annotated[int, Meta(description="Micro-units of the registry's currency.")]


class AnswerMessage(Struct, frozen=True):
    """What the model said, or which functions it called."""

    role: Literal["assistant"]
    content: str | None
    refusal: str | None
    tool_calls: tuple[ToolCall, ...] | UnsetType = UNSET


class Choice(Struct, frozen=True):
    """The one completion."""

    index: Literal[0]
    message: AnswerMessage
    logprobs: dict[str, Any] | None
    finish_reason: FinishReason


class UsageOfAnswer(Struct, frozen=True):
    """What was settled, in tokens."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(Struct, frozen=True):
    """A stored answer; ``id`` is the operation's, ``model`` the provider's own name of it."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: Annotated[tuple[Choice, ...], Meta(min_length=1, max_length=1)]
    usage: UsageOfAnswer


class Model(Struct, frozen=True):
    """An alias that the principal may use."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelList(Struct, frozen=True):
    """All of them."""

    object: Literal["list"]
    data: tuple[Model, ...]


class Amounts(Struct, frozen=True):
    """What was reserved."""

    input: int
    output: int
    cost: Cost


class Used(Struct, frozen=True):
    """What was used, and who says so."""

    input: int
    output: int
    cost: Cost
    basis: Literal["provider", "reserved"]


class Stage(Struct, frozen=True):
    """What an operation that has not ended is doing."""

    name: Literal["reserved", "executing", "unknown"]
    since_us: Micros


class AttemptView(Struct, frozen=True):
    """The last attempt."""

    n: int
    profile: str
    profile_digest: str
    dispatch_id: str
    reserved: Amounts
    used: Used | None
    granted_us: Micros
    dispatching_us: Micros | None
    finished_us: Micros | None


class OperationView(Struct, frozen=True, kw_only=True):
    """What became of a generation. Never a text of it."""

    id: str
    object: Literal["operation"]
    state: State
    stage: Stage | None
    detail: str | None
    model: str
    purpose: str
    bundle: str
    bundle_digest: str
    policy_revision: str
    created_us: Micros
    max_attempts: int
    attempts_dispatched: int
    attempt: AttemptView


class Timeline(Struct, frozen=True):
    """All that happened, in order."""

    object: Literal["list"]
    data: tuple[TimelineEntry, ...]


class LiveView(Struct, frozen=True):
    """The process works."""

    status: Literal["live"]


class LastReloadView(Struct, frozen=True):
    """Whether the last reload was taken, and when."""

    taken: bool
    at_us: Micros


class ProfileReadiness(Struct, frozen=True):
    """Whether a profile serves, and if not, why."""

    state: ReadinessState
    reason: str


class ReadyView(Struct, frozen=True, kw_only=True):
    """Whether new work is taken and a profile serves."""

    status: Literal["ready", "not_ready", "draining"]
    registry_digest: str
    policy: Literal["up", "away"]
    policy_revision: str
    last_reload: LastReloadView | None
    profiles: dict[str, ProfileReadiness]
