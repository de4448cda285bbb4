"""Words that several kinds of the registry share: ids, digests, limits, money, times."""

import hashlib
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

# "$" alone would let a trailing newline through in Python; the look-ahead closes that and, unlike "\Z",
# means the same in the regular expressions of JSON Schema.
END = r"$(?!\n)"

Id = Annotated[
    str,
    Meta(
        pattern=rf"^[a-z0-9][a-z0-9._-]{{0,63}}{END}",
        description="Lower-case letters, digits, '.', '_' and '-', at most 64; compared exactly, never reused.",
    ),
]
BundleId = Annotated[
    str,
    Meta(
        pattern=rf"^[a-z0-9][a-z0-9._-]{{0,63}}@(0|[1-9][0-9]{{0,5}}){END}",
        description="A bundle with its version, such as chat@1.",
    ),
]
Name = Annotated[
    str,
    Meta(
        pattern=rf"^[A-Za-z0-9][A-Za-z0-9._:/@+-]{{0,199}}{END}",
        description="A name that somebody else gives: a model, a revision, an engine, a file.",
    ),
]
Text = Annotated[str, Meta(min_length=1, max_length=500, description="A sentence for people.")]
Digest = Annotated[str, Meta(pattern=rf"^sha256:[0-9a-f]{{64}}{END}", description="sha256: and 64 hexadecimal digits.")]
DateTime = Annotated[
    str,
    Meta(
        pattern=rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}Z{END}",
        description="An instant in UTC, such as 2027-06-30T00:00:00Z.",
        extra_json_schema={"format": "date-time"},
    ),
]
Date = Annotated[
    str,
    Meta(
        pattern=rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}{END}",
        description="A day, such as 2026-11-30.",
        extra_json_schema={"format": "date"},
    ),
]
Url = Annotated[
    str,
    Meta(
        pattern=rf"^https?://[A-Za-z0-9.\-\[\]:]+(/[A-Za-z0-9._~/-]*)?{END}",
        max_length=300,
        description="http or https, without user, query or fragment.",
        extra_json_schema={"format": "uri"},
    ),
]
# Seven digits: the most tokens that one call can have, at the highest price, stay an amount that the store can hold.
Amount = Annotated[
    str,
    Meta(
        pattern=rf"^(0|[1-9][0-9]{{0,6}})(\.[0-9]{{1,9}})?{END}",
        description="Money as a decimal string, so that no digit is lost; below ten million.",
    ),
]
Limit = Annotated[int, Meta(ge=0, le=2**53)] | Literal["unlimited"]
"""A stated limit: ``unlimited`` is a word, 0 is nothing."""
# One pattern and not a union with a literal: msgspec would hold the word to the pattern of an amount.
CostLimit = Annotated[
    str,
    Meta(
        pattern=rf"^(unlimited|(0|[1-9][0-9]{{0,8}})(\.[0-9]{{1,9}})?){END}",
        description="unlimited, or money as a decimal string.",
    ),
]
Tokens = Annotated[int, Meta(ge=1, le=100_000_000)]
Seconds = Annotated[int, Meta(ge=1, le=86_400)]
PrivacyClass = Id
Network = Literal["loopback", "private", "public"]


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Budgets of one scope. Every one is stated; windows are fixed and in UTC."""

    requests_per_minute: Limit
    tokens_per_minute: Limit
    tokens_per_day: Limit
    tokens_per_month: Limit
    cost_per_month: CostLimit
    concurrency: Limit


class Currency(Struct, frozen=True, forbid_unknown_fields=True):
    """The one currency of all prices and cost limits."""

    currency: Annotated[str, Meta(pattern=rf"^[A-Z]{{3}}{END}", description="ISO 4217, such as EUR.")]


class Requirements(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a privacy class asks of destinations, evaluations and facts. The rules are Rego, the thresholds data."""

    id: PrivacyClass
    networks: Annotated[tuple[Network, ...], Meta(min_length=1, description="Networks over which a prompt may travel.")]
    longest_retention_days: Annotated[
        int, Meta(ge=0, le=36_500, description="Days for which an endpoint may keep prompts and answers.")
    ]
    training_allowed: Annotated[bool, Meta(description="Whether an endpoint may train on them.")]
    time_sharing_allowed: Annotated[bool, Meta(description="Whether an engine's device may be shared by time slices.")]
    attestation_required: Annotated[
        bool, Meta(description="Whether the engine itself must attest the revision that it serves.")
    ]
    least_score: Annotated[float, Meta(ge=0, le=1, description="Least score of the bundle's evaluation.")]
    most_refusals: Annotated[float, Meta(ge=0, le=1, description="Highest refusal rate of the bundle's evaluation.")]
    longest_evaluation_days: Annotated[
        int, Meta(ge=1, le=36_500, description="Days for which an evaluation counts, from its date on.")
    ]
    longest_facts_s: Annotated[
        int,
        Meta(ge=1, le=366 * 86_400, description="Seconds for which the facts on a source of this class count."),
    ]


class Privacy(Struct, frozen=True, forbid_unknown_fields=True):
    """The privacy classes in their order."""

    classes: Annotated[tuple[Requirements, ...], Meta(min_length=1, description="From the least to the most strict.")]


class Purpose(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a generation is for."""

    id: Id
    title: Text
    grounded: Annotated[
        bool,
        Meta(description="true: the request must cite its sources; false: it must cite none."),
    ]
    privacy_class: Annotated[
        PrivacyClass | None,
        Meta(description="The least class that this purpose needs; null, which must be said: none of its own."),
    ]


class QuotaScope(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A provider account (or an engine of one's own) whose limits several profiles share."""

    id: Id
    provider: Id
    limits: Limits


class Credential(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a provider's secret lies, where it may be sent, and for whom. Never the secret itself."""

    id: Id
    secret: Annotated[
        str,
        Meta(
            pattern=rf"^(env:GATEWAY_SECRET_[A-Z0-9_]{{1,60}}|file:[a-z0-9][a-z0-9._-]{{0,63}}){END}",
            description="env:GATEWAY_SECRET_NAME, or file:NAME in the secrets directory.",
        ),
    ]
    hosts: Annotated[
        tuple[Annotated[str, Meta(pattern=rf"^[a-z0-9.-]{{1,253}}(:[0-9]{{1,5}})?{END}")], ...], Meta(min_length=1)
    ]
    tenants: Annotated[tuple[Id, ...], Meta(min_length=1)]
    owner: Text


class Releases(Struct, frozen=True, forbid_unknown_fields=True):
    """The release pointers: which bundle answers to an alias."""

    releases: Annotated[dict[Id, BundleId], Meta(min_length=1)]


def digest_of(value: Any) -> str:
    """``sha256:`` over the canonical JSON of a registry object.

    What is at its default is left out: a field that a later version of the gateway adds takes no approval back.
    """
    return "sha256:" + hashlib.sha256(msgspec.json.encode(_stated(value), order="deterministic")).hexdigest()


def _stated(value: Any) -> Any:
    # Not omit_defaults: that compares by identity, and two equal numbers need not be one object.
    if isinstance(value, Struct):
        config = value.__struct_config__
        # What a tagged struct is, is said by its tag alone.
        tag = {} if config.tag_field is None else {config.tag_field: config.tag}
        return tag | {
            field.encode_name: _stated(stated)
            for field in msgspec.structs.fields(value)
            if (stated := getattr(value, field.name)) != field.default
        }
    if isinstance(value, tuple):
        return [_stated(item) for item in value]
    return value
