"""Who may administer what: policy is asked, also for the built-in operator.

Without a Permit no service of administration does anything: it does not type-check. Only ``Administer`` makes one.
"""

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain, PermitMisused, PolicyUnavailable
from gateway.domain.principal import Caller
from gateway.domain.questions import Area, Decision, Deed, OperateQuestion
from gateway.domain.refusal import Code, Refusal
from gateway.domain.snapshot import Snapshot
from gateway.ports.ledger import Ledger, RefusalRecord
from gateway.service.path import Session


class Permit:
    """Policy has allowed this principal this deed in this area."""

    __slots__ = ("_area", "_deed", "_session", "decision")

    def __init__(self, session: Session, area: Area, deed: Deed, decision: Decision) -> None:
        self._session = session
        self._area = area
        self._deed = deed
        self.decision = decision

    def actor(self, area: Area, deed: Deed) -> Caller:
        """Whose act it is. Every service asks for it before it does anything.

        :raises PermitMisused: the permit is for something else.
        """
        if (area, deed) != (self._area, self._deed):
            raise PermitMisused(f"{self._area} {self._deed}, used for {area} {deed}")
        return self._session.caller

    @property
    def snapshot(self) -> Snapshot:
        """The registry under which it was decided."""
        return self._session.active.snapshot


class Administer:
    """Asks policy ``operate``. There is no other way past, whatever the credential."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def __call__(
        self, session: Session, area: Area, deed: Deed, *, denied: Code = Code.OPERATOR_REQUIRED
    ) -> Permit | Refusal:
        """A permit, or a refusal that is on record.

        :param denied: the code of a "no", where whoever may not must not learn what there is.
        """
        principal, policy = session.caller.principal, session.active.policy
        question = OperateQuestion(tenant=principal.tenant, roles=principal.roles, area=area, deed=deed)
        try:
            decided = await policy.operate(question)
        except PolicyUnavailable:
            return Refusal(code=Code.POLICY_UNAVAILABLE)
        if decided.answer.allow is True:
            return Permit(session, area, deed, decided.decision)
        codes = tuple(policy.explain("request", check) for check in sorted(decided.answer.failed))
        record = RefusalRecord(
            caller=session.caller,
            code=denied,
            policy_codes=tuple(code.code for code in codes),
            operation_id=None,
            decisions=(decided.decision,),
        )
        try:
            await self._ledger.refuse(record)
        except (LedgerUnavailable, LedgerUncertain):
            # A "no" that cannot be recorded is 503, as on the path of a request.
            return Refusal(code=Code.LEDGER_UNAVAILABLE)
        if denied is not Code.OPERATOR_REQUIRED:
            return Refusal(code=denied)
        return Refusal(code=denied, policy_codes=codes, decisions=(decided.decision,))
