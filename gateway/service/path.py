"""What the steps hand to one another along the path of a request."""

from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct

from gateway.domain.budget import Reservation
from gateway.domain.bundle import Bundle
from gateway.domain.fingerprint import Fingerprint
from gateway.domain.operation import Identity, Operation
from gateway.domain.principal import Caller
from gateway.domain.profile import Profile
from gateway.domain.questions import Decision
from gateway.domain.refusal import Refusal
from gateway.domain.request import Request
from gateway.domain.source import KnownSource
from gateway.service.active import Active

ENDPOINT = "POST /v1/chat/completions"
"""Part of every fingerprint, so that one key cannot stand for requests to two endpoints."""


class Asked(Struct, frozen=True):
    """A parsed request under its key."""

    key_hash: bytes
    request: Request


class Arrival(Struct, frozen=True):
    """A request at the door. The credential is checked before the body is read."""

    credential: str | None
    read: Callable[[], Awaitable[Asked | Refusal]]


class Session(Struct, frozen=True):
    """Who asks, under which registry and policy; pinned for the whole request."""

    caller: Caller
    active: Active


class Opening(Struct, frozen=True):
    """The key is free, or its last attempt had no effect: an attempt may be claimed."""

    identity: Identity
    fingerprint: Fingerprint
    request: Request
    prior: Operation | None


class Access(Struct, frozen=True):
    """Policy admits the request, at this privacy class."""

    purpose: str
    privacy_class: str
    sources: tuple[KnownSource, ...]
    decision: Decision


class Routes(Struct, frozen=True):
    """Approved and ready profiles of the bundle, in its order."""

    bundle: Bundle
    bundle_digest: str
    candidates: tuple[Profile, ...]
    decision: Decision


class Bounded(Struct, frozen=True):
    """The one profile that serves it, and what has to be reserved."""

    profile: Profile
    reserved: Reservation


class Again(Struct, frozen=True):
    """T1 found the world changed: the path is walked once more from this step."""

    start: Literal["look_up", "authenticate"]
