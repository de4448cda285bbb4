"""Budgets of the ledger in memory. Nothing is counted on the way: every sum is taken anew from the attempts."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from gateway.domain.budget import Reservation, Scope, Settlement
from gateway.domain.limits import Budget, BudgetShort, Sums, lasts, shortages
from gateway.domain.money import Tariff
from gateway.domain.operation import HOLDING, REPEATABLE, State
from gateway.domain.windows import Windows, windows
from gateway.ports.ledger import Claim
from gateway.ports.reads import ScopeSums


class Hold(Struct):
    """What one attempt holds, or has settled, in all its scopes."""

    scopes: tuple[Scope, ...]
    reserved: Reservation
    tariff: Tariff
    taken: dict[Scope, Windows]
    """The windows that it counts in."""
    state: State = State.GRANTED
    slot_held: bool = True
    settled_tokens: int = 0
    settled_cost: int = 0
    debt_tokens: int = 0
    debt_cost: int = 0

    def settle(self, settlement: Settlement) -> None:
        """Follow the attempt to the state of its settlement."""
        self.state = settlement.state
        self.slot_held = self.slot_held and self.state in HOLDING
        if settlement.used is not None:
            self.debt_tokens, self.debt_cost = settlement.debt_tokens, settlement.debt_cost
            self.settled_tokens = settlement.used.input + settlement.used.output - self.debt_tokens
            self.settled_cost = settlement.cost - self.debt_cost

    def owe(self, tokens: int, cost: int) -> tuple[int, int]:
        """Raise the debt to what is proved above what is settled; returns what that adds."""
        before = (self.debt_tokens, self.debt_cost)
        self.debt_tokens = max(self.debt_tokens, tokens - self.settled_tokens)
        self.debt_cost = max(self.debt_cost, cost - self.settled_cost)
        return self.debt_tokens - before[0], self.debt_cost - before[1]

    @property
    def is_held(self) -> bool:
        return self.state in HOLDING

    @property
    def tokens(self) -> int:
        """What counts in a window."""
        return self.reserved.tokens if self.is_held else self.settled_tokens + self.debt_tokens

    @property
    def cost(self) -> int:
        return self.reserved.cost if self.is_held else self.settled_cost + self.debt_cost


class Budgets:
    """The holds of all attempts, by dispatch id."""

    def __init__(self) -> None:
        self.holds: dict[str, Hold] = {}
        self._windows: dict[Scope, Windows] = {}

    def of(self, dispatch_id: str, now_us: int) -> Hold:
        """A hold that is about to change: its scopes begin the windows of now."""
        hold = self.holds[dispatch_id]
        self._roll(hold.scopes, now_us)
        return hold

    def short(self, budgets: Sequence[Budget], asked: Reservation, now_us: int) -> BudgetShort | None:
        """See Ledger.claim."""
        self._roll((budget.scope for budget in budgets), now_us)
        found = [one for b in budgets for one in shortages(b, self._sums(b.scope), asked, now_us)]
        return max(found, key=lasts) if found else None

    def take(self, claim: Claim) -> None:
        scopes = tuple(budget.scope for budget in claim.budgets)
        taken = {scope: self._windows[scope] for scope in scopes}
        self.holds[claim.dispatch_id] = Hold(scopes, claim.reserved, claim.tariff, taken)

    def usage(self) -> tuple[ScopeSums, ...]:
        """See Accounts.usage."""
        return tuple(ScopeSums(scope, self._sums(scope)) for scope in sorted(self._windows))

    def _roll(self, scopes: Iterable[Scope], now_us: int) -> None:
        now = windows(now_us)
        for scope in scopes:
            last = self._windows.get(scope, now)
            self._windows[scope] = Windows(
                max(last.minute_us, now.minute_us), max(last.day_us, now.day_us), max(last.month_us, now.month_us)
            )

    def _sums(self, scope: Scope) -> Sums:
        current = self._windows[scope]
        holds = [hold for hold in self.holds.values() if scope in hold.scopes]
        held = [hold for hold in holds if hold.is_held]
        minute = [hold for hold in holds if hold.taken[scope].minute_us == current.minute_us]
        day = [hold for hold in holds if hold.taken[scope].day_us == current.day_us]
        month = [hold for hold in holds if hold.taken[scope].month_us == current.month_us]
        return Sums(
            minute_us=current.minute_us,
            minute_requests=sum(hold.state not in REPEATABLE for hold in minute),
            minute_tokens=sum(hold.tokens for hold in minute),
            day_us=current.day_us,
            day_tokens=sum(hold.tokens for hold in day),
            month_us=current.month_us,
            month_tokens=sum(hold.tokens for hold in month),
            month_cost=sum(hold.cost for hold in month),
            held_tokens=sum(hold.reserved.tokens for hold in held),
            held_cost=sum(hold.reserved.cost for hold in held),
            debt_tokens=sum(hold.debt_tokens for hold in holds),
            debt_cost=sum(hold.debt_cost for hold in holds),
            slots_used=sum(hold.slot_held for hold in holds),
            slots_stranded=sum(hold.slot_held and hold.state is State.UNKNOWN for hold in holds),
        )
