"""The policy port over a real OPA: start a revision, ask it, close it.

Another revision is another OpaPolicy: start it, swap one reference, close the old one.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from uuid_utils import uuid7

from adapters.policy import binary, bundle, golden
from adapters.policy.answers import Question, coherent, explained
from adapters.policy.background import end_loop, start_loop
from adapters.policy.child import Child
from adapters.policy.engine import Engine, Envelope, Reason
from adapters.policy.folder import Folder
from adapters.policy.metadata import Check, Documented
from adapters.policy.preparation import prepare
from adapters.policy.pulse import Pulse
from adapters.policy.registry_facts import facts
from adapters.policy.strays import strays
from gateway.domain.errors import PolicyUnavailable, StartRefused
from gateway.domain.fault import Fault
from gateway.domain.questions import (
    AccessAnswer,
    AccessQuestion,
    Decision,
    OperateAnswer,
    OperateQuestion,
    ReplayAnswer,
    ReplayQuestion,
    RoutesAnswer,
    RoutesQuestion,
    VisibleAnswer,
    VisibleQuestion,
)
from gateway.domain.refusal import PolicyCode
from gateway.domain.snapshot import Snapshot
from gateway.ports.events import Events
from gateway.ports.policy import Decided

_START_S = 10.0
_POLL_S = 0.005
_LONGEST_SOCKET_PATH = 100
_encode = msgspec.json.Encoder(order="deterministic").encode
_access = msgspec.json.Decoder(Envelope[AccessAnswer]).decode
_routes = msgspec.json.Decoder(Envelope[RoutesAnswer]).decode
_replay = msgspec.json.Decoder(Envelope[ReplayAnswer]).decode
_visible = msgspec.json.Decoder(Envelope[VisibleAnswer]).decode
_operate = msgspec.json.Decoder(Envelope[OperateAnswer]).decode
_ABOUT_NOTHING: Mapping[str, tuple[Question, Any]] = {
    "access": (
        AccessQuestion(time_s=0, tenant="", groups=(), roles=(), purpose="", alias="", sources=()),
        _access,
    ),
    "routes": (
        RoutesQuestion(time_s=0, tenant="", purpose="", alias="", bundle="", privacy_class="", features=()),
        _routes,
    ),
    "replay": (ReplayQuestion(time_s=0, tenant="", groups=(), roles=(), purpose="", sources=()), _replay),
    "visible": (VisibleQuestion(time_s=0, tenant="", roles=()), _visible),
    "operate": (OperateQuestion(tenant="", roles=(), area="policy", deed="read"), _operate),
}
"""For each entrypoint a question that anybody could answer, and the decoder of its answer."""


async def start(
    *, snapshot: Snapshot, policies: Path, opa: Path, events: Events, on_fatal: Callable[[], None] = lambda: None
) -> "OpaPolicy":
    """Start OPA with these rules and this registry, and ask the golden decisions.

    Call it in the thread that lives as long as the policy: the child dies with that thread.

    :param on_fatal: called if the supervision of OPA itself breaks; from then on nothing starts OPA again.
    :raises StartRefused: the rules are faulty, OPA does not start, or a golden decision comes out otherwise.
    """
    policy = await start_unproved(snapshot=snapshot, policies=policies, opa=opa, events=events, on_fatal=on_fatal)
    try:
        policy.golden = await golden.ask(policy, policies, snapshot)
    except BaseException:
        await policy.close()
        raise
    if policy.golden.wrong:
        await policy.close()
        raise StartRefused("\n".join(str(fault) for fault in policy.golden.wrong), tuple(policy.golden.wrong))
    return policy


async def start_unproved(
    *, snapshot: Snapshot, policies: Path, opa: Path, events: Events, on_fatal: Callable[[], None] = lambda: None
) -> "OpaPolicy":
    """The same without the golden decisions."""
    version = await asyncio.to_thread(binary.version, opa)
    if version not in binary.ACCEPTED:
        raise StartRefused(
            f"This OPA is not one of the tested versions ({', '.join(binary.ACCEPTED)}). Run: gateway opa install"
        )
    if found := strays(policies):
        raise StartRefused("\n".join(str(fault) for fault in found), tuple(found))
    if not (rules := bundle.read_rules(policies)):
        none = Fault(
            str(policies), 0, "", "There are no rules in this folder.", "Name the one that holds gateway/*.rego."
        )
        raise StartRefused(str(none), (none,))
    revision = bundle.policy_revision(bundle.revision_of(rules), snapshot.digest, version)
    classes = frozenset(asked.id for asked in snapshot.privacy_classes)
    policy = OpaPolicy(Folder(), opa=opa, revision=revision, version=version, classes=classes, events=events)
    try:
        tarball = bundle.build(rules, facts(snapshot), revision)
        checks = await asyncio.to_thread(prepare, tarball, policy.files.bundle, policies, opa)
        await policy.open(checks, on_fatal)
    except BaseException:
        await policy.close()
        raise
    return policy


class OpaPolicy:
    """One revision of rules and registry. Implements gateway.ports.policy.Policy."""

    def __init__(
        self, files: Folder, *, opa: Path, revision: str, version: str, classes: frozenset[str], events: Events
    ) -> None:
        self.files = files
        self.golden = golden.Asked()
        """What became of the golden decisions at the start."""
        self._revision = revision
        self._classes = classes
        self._events = events
        self._checks: Mapping[Check, Documented] = {}
        self._child = Child(opa, self.files.bundle, self.files.socket, events)
        self._engine = Engine(self.files.socket, revision=revision, version=version, events=events)
        self._pulse = Pulse(self._engine.health, self._ask_again, self._child.kill, events)
        self._looking: asyncio.Task[None] | None = None

    @property
    def revision(self) -> str:
        return self._revision

    @property
    def child_pid(self) -> int | None:
        """Process id of OPA; None while it is away."""
        return self._child.pid

    @property
    def is_up(self) -> bool:
        """Whether OPA runs, answered when it was last asked anything, and has rules for all questions."""
        return self._child.pid is not None and self._pulse.answers

    async def access(self, question: AccessQuestion) -> Decided[AccessAnswer]:
        return await self._decide("access", question, _access)

    async def routes(self, question: RoutesQuestion) -> Decided[RoutesAnswer]:
        return await self._decide("routes", question, _routes)

    async def replay(self, question: ReplayQuestion) -> Decided[ReplayAnswer]:
        return await self._decide("replay", question, _replay)

    async def visible(self, question: VisibleQuestion) -> Decided[VisibleAnswer]:
        return await self._decide("visible", question, _visible)

    async def operate(self, question: OperateQuestion) -> Decided[OperateAnswer]:
        return await self._decide("operate", question, _operate)

    def explain(self, level: str, check: str) -> PolicyCode:
        """:raises KeyError: for a check that no answer of this revision can name."""
        return self._checks[Check(level, check)].code

    async def open(self, checks: Mapping[Check, Documented], on_fatal: Callable[[], None]) -> None:
        """Start OPA over the bundle that was prepared. Called once, by ``start``.

        :raises StartRefused: it does not start, or requires a check that is not documented.
        """
        if len(str(self.files.socket)) > _LONGEST_SOCKET_PATH:
            raise StartRefused("The path of the temporary folder is too long for a socket. Set TMPDIR to a short one.")
        self._checks = checks
        await self._engine.open()
        await self._child.start()
        ended = asyncio.create_task(self._child.ended())
        try:
            async with asyncio.timeout(_START_S):
                while await self._engine.health() is not None:
                    if ended.done():
                        raise StartRefused(f"OPA ended at its start. It said: {_last_line(self._child.said)}")
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise StartRefused(f"OPA did not become ready within {_START_S:.0f} s. Start the gateway again.") from None
        finally:
            ended.cancel()
            await asyncio.wait([ended])
        self._child.supervise(on_fatal)
        self._looking = start_loop(self._pulse.run(), "policy.pulse", self._events, on_fatal)

    async def close(self) -> None:
        """Wait for the decisions in flight, then end OPA. Further questions are refused."""
        if self._looking:
            await end_loop(self._looking)
        await self._engine.close()
        await self._child.close()
        await asyncio.to_thread(self.files.remove)

    async def _ask_again(self, entrypoint: str) -> None:
        """A question of nobody about nothing, which sound rules deny: is there an answer at all by now?"""
        with suppress(PolicyUnavailable):  # the pulse has noted it
            await self._decide(entrypoint, *_ABOUT_NOTHING[entrypoint])

    async def _decide(self, entrypoint: str, question: Any, decode: Any) -> Decided[Any]:
        asked = _encode(question)
        try:
            answer = await self._engine.ask(
                f"gateway/{entrypoint}",
                asked,
                decode,
                lambda answer: coherent(question, answer, self._checks, self._classes),
            )
        except PolicyUnavailable as unavailable:
            self._pulse.note(Reason(unavailable.reason), entrypoint)
            raise
        self._pulse.note(None, entrypoint)
        decision = Decision(
            id=str(uuid7()),
            entrypoint=entrypoint,
            revision=self._revision,
            question_digest=hashlib.sha256(asked).hexdigest(),
            failed=explained(answer, self._checks),
        )
        return Decided(answer, decision)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "nothing."
