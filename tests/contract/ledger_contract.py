"""What every Ledger with its reads keeps, the fake and the one on SQLite. A subclass provides the ends."""

from contract.ledger_acts import ActContract
from contract.ledger_budgets import BudgetContract
from contract.ledger_claims import ClaimContract
from contract.ledger_decisions import DecisionContract
from contract.ledger_directory import DirectoryContract
from contract.ledger_disclosures import DisclosureContract
from contract.ledger_dispatches import DispatchContract
from contract.ledger_keys import KeyContract
from contract.ledger_outcomes import OutcomeContract
from contract.ledger_profiles import ProfileContract
from contract.ledger_reads import ReadContract
from contract.ledger_revoked import RevokedContract
from contract.ledger_searches import SearchContract
from contract.ledger_settlements import SettlementContract
from contract.ledger_timelines import TimelineContract


class LedgerContract(
    ClaimContract,
    BudgetContract,
    DispatchContract,
    SettlementContract,
    ActContract,
    DisclosureContract,
    ReadContract,
    OutcomeContract,
    SearchContract,
    TimelineContract,
    DirectoryContract,
    KeyContract,
    ProfileContract,
    RevokedContract,
    DecisionContract,
):
    """Inherit, and implement ``ends``."""
