"""A profile: one model at one pinned revision, behind one endpoint, within approved bounds."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from gateway.domain.capacity import Capacity
from gateway.domain.registry import (
    Amount,
    Date,
    DateTime,
    Id,
    Limits,
    Name,
    Network,
    PrivacyClass,
    Seconds,
    Text,
    Tokens,
    Url,
)
from gateway.domain.request import Feature

Adapter = Literal["llama_cpp", "vllm", "openai", "azure", "anthropic"]
Capability = Feature
SELF_HOSTED_ADAPTERS = frozenset({"llama_cpp", "vllm"})


class Approval(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Somebody's approval of this profile for a privacy class."""

    privacy_class: PrivacyClass
    by: Text
    evidence: Text
    until: Annotated[DateTime, Meta(description="The approval holds until this instant, exclusive.")]


class Counter(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the input is counted, always locally."""

    method: Annotated[
        str,
        Meta(
            pattern=r"^(bytes|tiktoken:[a-z0-9_]{1,40}|tokenizers:[a-z0-9._-]{1,80}@sha256:[0-9a-f]{64})$(?!\n)",
            description="bytes (an upper bound), tiktoken:ENCODING, or tokenizers:FILE@sha256:DIGEST.",
        ),
    ]
    per_message: Annotated[int, Meta(ge=0, le=1000, description="Tokens that the chat template adds per message.")]
    per_request: Annotated[int, Meta(ge=0, le=100_000, description="Tokens that the chat template adds per request.")]
    per_tool: Annotated[
        int, Meta(ge=0, le=100_000, description="Tokens that the chat template adds per tool, and per call of one.")
    ] = 0
    per_image: Annotated[
        Annotated[int, Meta(ge=1, le=10_000_000)] | None,
        Meta(description="Most tokens that an image takes; null: images cannot be counted."),
    ] = None


class ErrorRule(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A complete error answer whose meaning is known, with the source of that knowledge."""

    status: Annotated[int, Meta(ge=400, le=599)]
    code: Annotated[Name | None, Meta(description="The provider's error code or type; null: any.")] = None
    busy: Annotated[bool, Meta(description="The provider was busy, so that trying later can help.")] = False
    source: Text


class Errors(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Error lists of this profile, before those of its adapter's family."""

    not_executed: tuple[ErrorRule, ...] = ()
    charged: tuple[ErrorRule, ...] = ()


class Timeouts(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Deadlines of a dispatch in milliseconds."""

    connect_ms: Annotated[int, Meta(ge=1, le=60_000)]
    total_ms: Annotated[int, Meta(ge=1, le=3_600_000, description="One deadline for the whole dispatch.")]


class Price(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Price per million tokens, in the registry's currency, of calls with more input tokens than this."""

    above_input_tokens: Annotated[int, Meta(ge=0)] = 0
    input_per_million: Amount
    output_per_million: Amount


class Prices(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All tiers, and the day on which somebody compared them with the provider's price list."""

    checked: Date
    tiers: Annotated[tuple[Price, ...], Meta(min_length=1)]


class DataHandling(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the operator of the endpoint does with prompts and answers."""

    retention_days: Annotated[int, Meta(ge=0, le=36_500)]
    trains_on_data: bool


class Placement(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The devices that an engine runs on."""

    device: Name
    count: Annotated[int, Meta(ge=1, le=4096)]
    sharing: Literal["exclusive", "time_shared"]
    members: Annotated[
        tuple[Name, ...], Meta(description="Members of a multi-device group; empty: a single device.")
    ] = ()


class Readiness(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """When an engine counts as ready."""

    ttl_s: Annotated[Seconds, Meta(description="A readiness older than this is none.")] = 10
    startup_s: Annotated[
        Seconds,
        Meta(description="How long the engine may take to load, and the pause after a canary of unknown outcome."),
    ] = 120
    canary: Annotated[bool, Meta(description="Whether it answers one fixed token before it serves.")] = True


class Abilities(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the engine can do."""

    abort_by_id: bool
    enforce_context: bool
    attest_revision: bool


class Engine(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The engine behind a self-hosted profile."""

    name: Name
    version: Name
    model_file: Annotated[Name, Meta(description="End of the path of the model file that the engine must report.")]
    weights_format: Name
    kv_format: Name
    capacity: Annotated[
        Capacity, Meta(description="What the memory of its devices holds, computed or measured; see docs/registry.md.")
    ]
    placement: Placement
    readiness: Readiness
    prefix_cache: Annotated[
        Literal["salted", "off", "single_tenant", "shared"],
        Meta(description="How cached prefixes of different tenants are kept apart."),
    ]
    salted_by: Annotated[
        Literal["tenant", "principal"] | None,
        Meta(description="Whose cached prefixes are kept apart; needed where prefix_cache is salted, else null."),
    ] = None
    fingerprint: Annotated[
        Name | None,
        Meta(description="system_fingerprint of every answer, where the engine attests its revision; null: none."),
    ] = None
    tenants: Annotated[
        Annotated[tuple[Id, ...], Meta(min_length=1)] | Literal["any"],
        Meta(description="The only tenants that this engine serves, or the word any."),
    ]
    abilities: Abilities


class Profile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One approved destination. A destination that is not a profile does not exist (promise G7)."""

    id: Id
    kind: Literal["hosted", "self_hosted"]
    adapter: Adapter
    provider: Id
    model: Annotated[Name, Meta(description="The model's id on the wire.")]
    revision: Annotated[Name, Meta(description="The pinned revision; never a moving one such as main or latest.")]
    accepted_models: Annotated[tuple[Name, ...], Meta(min_length=1, description="Names that an answer may carry.")]
    context_window: Annotated[Tokens, Meta(description="Input and output together, in tokens.")]
    max_output: Annotated[Tokens, Meta(description="Tokens; also what is reserved where the caller names no cap.")]
    max_answer_bytes: Annotated[int, Meta(ge=1024, le=64 * 2**20)] = 4 * 2**20
    capabilities: Annotated[tuple[Capability, ...], Meta(min_length=1)]
    counter: Counter
    control_tokens: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=64)], ...],
        Meta(max_length=256, description="Words of the chat template that a request's text must not contain."),
    ] = ()
    endpoint: Annotated[Url, Meta(description="Base URL, such as https://api.example.com/v1.")]
    api_version: Annotated[Name | None, Meta(description="Needed by azure, else null.")] = None
    network: Network
    region: Id
    data_handling: DataHandling
    approvals: Annotated[tuple[Approval, ...], Meta(min_length=1)]
    credential: Id | None = None
    quota_scope: Id
    limits: Limits
    prices: Prices
    errors: Errors
    timeouts: Timeouts
    on_disconnect: Literal["continue", "cancel"]
    engine: Engine | None = None
