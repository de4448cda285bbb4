"""Disclosures, refusals, and what readers see."""

from contract.ledger_ends import CALLER, CREDENTIAL, Ends, WithEnds, a_claim, a_key, decision, grant, withdraw

from gateway.domain.request import SourceRef
from gateway.ports.ledger import RefusalRecord


class ReadContract(WithEnds):
    """Disclosures, refusals, and what readers see."""

    def test_a_refusal_is_taken(self) -> None:
        async def use(ends: Ends) -> None:
            record = RefusalRecord(
                caller=CALLER,
                code="access_denied",
                policy_codes=("request_alias",),
                operation_id=None,
                decisions=(decision("access"),),
            )
            await ends.ledger.refuse(record)

        self._with_ends(use)

    def test_what_is_not_there_is_none(self) -> None:
        async def use(ends: Ends) -> None:
            assert await ends.operations.get("nothing") is None
            assert await ends.operations.find(a_claim("nothing").identity) is None
            assert await ends.operations.result("nothing") is None
            assert await ends.keys.find(b"n" * 32) is None

        self._with_ends(use)

    def test_facts_come_in_order_and_a_source_without_a_row_is_unknown(self) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends)
            await grant(ends, revision="r2", groups=("board",), as_of_s=1_800_000_000)
            await withdraw(ends)
            refs = (SourceRef("missing", "r9"), SourceRef("handbook", "r1"))
            missing, handbook = await ends.sources.facts(refs)
            assert (missing.ref, missing.version, missing.fact.known, missing.fact.withdrawn) == (
                refs[0],
                0,
                False,
                True,
            )
            assert (handbook.ref, handbook.version, handbook.fact.known) == (refs[1], 3, True)
            fact = handbook.fact
            assert (fact.cited, fact.revision, fact.tenant, fact.groups) == ("r1", "r2", "acme", ("board", "staff"))
            assert (fact.privacy_class, fact.released_s, fact.withdrawn) == ("internal", 1_700_000_000, True)
            assert fact.as_of_s == 1_800_000_000

        self._with_ends(use)

    def test_a_key_is_found_by_the_hash_of_its_token(self) -> None:
        async def use(ends: Ends) -> None:
            inactive = a_key("key-2", active=False)
            await ends.keys.create(inactive, b"2" * 32, actor=CALLER)
            assert await ends.keys.find(CREDENTIAL) == a_key()
            assert await ends.keys.find(b"2" * 32) == inactive

        self._with_ends(use)
