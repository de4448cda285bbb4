"""Release pointer -> bundle -> the approved profiles that are ready, in the bundle's order."""

from gateway.domain.errors import PolicyUnavailable
from gateway.domain.questions import RoutesQuestion
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import features
from gateway.ports.clock import Clock
from gateway.service.path import Access, Opening, Routes, Session
from gateway.service.policy_codes import route_codes
from gateway.service.readiness import ReadinessBoard

NOT_READY_RETRY_AFTER_S = 5


class Select:
    """A destination is a profile of the approved bundle, or there is none (promise G7)."""

    def __init__(self, board: ReadinessBoard, clock: Clock) -> None:
        self._board = board
        self._clock = clock

    async def __call__(self, session: Session, opening: Opening, access: Access) -> Routes | Refusal:
        snapshot, policy = session.active.snapshot, session.active.policy
        bundle = snapshot.bundles[snapshot.releases[opening.request.model]]
        digest = snapshot.bundle_digests[bundle.id]
        if opening.prior is not None and opening.prior.bundle_digest != digest:
            return Refusal(
                code=Code.BUNDLE_SUPERSEDED,
                operation_id=opening.prior.id,
                operation_state=opening.prior.last.state,
                decisions=(access.decision,),
            )
        question = RoutesQuestion(
            time_s=self._clock.now_us() // 1_000_000,
            tenant=session.caller.principal.tenant,
            purpose=access.purpose,
            alias=opening.request.model,
            bundle=bundle.id,
            privacy_class=access.privacy_class,
            features=features(opening.request),
        )
        try:
            decided = await policy.routes(question)
        except PolicyUnavailable:
            return Refusal(code=Code.POLICY_UNAVAILABLE, decisions=(access.decision,))
        decisions = (access.decision, decided.decision)
        approved = [profile.id for profile in bundle.profiles]
        if not set(decided.answer.routes) <= set(approved):
            # A route outside the bundle is a policy that cannot be believed (promise G10).
            return Refusal(code=Code.POLICY_UNAVAILABLE, decisions=decisions)
        if not decided.answer.routes:
            # "Leave the feature out" is of no use to whoever does not know which. To chat goes without saying.
            needs = ", ".join(feature for feature in question.features if feature != "chat")
            return Refusal(
                code=Code.NO_ROUTE_ALLOWED,
                policy_codes=route_codes(policy, decided.answer),
                decisions=decisions,
                facts={"needs": needs} if needs else None,
            )
        eligible = [snapshot.profiles[id_] for id_ in approved if id_ in decided.answer.routes]
        candidates = tuple(profile for profile in eligible if self._board.is_ready(profile))
        if not candidates:
            return Refusal(code=Code.NO_READY_ROUTE, retry_after_s=NOT_READY_RETRY_AFTER_S, decisions=decisions)
        return Routes(bundle, digest, candidates, decided.decision)
