Feature: Saved before it is shown
  An answer is shown only after it is saved, and a reservation is taken only if the ledger can take it.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Yes."

  @service @http @G3
  @acceptance @acceptance-final_write_failure
  Scenario: An answer that cannot be saved is not shown
    Given the ledger cannot save results
    When the assistant asks "Is it?" under the key "k-1"
    Then the request is refused as "outcome_unknown"
    And the engine was called once
    And the reservation is kept

  @service @http @code-ledger_unavailable
  Scenario: Without the ledger nothing is sent
    Given the ledger cannot reserve
    When the assistant asks "Is it?" under the key "k-1"
    Then the request is refused as "ledger_unavailable"
    And no engine is called
    And nothing is reserved

  @service @http @G2
  Scenario: What cannot be noted as being sent is not sent
    Given the ledger cannot note that a request is being sent
    When the assistant asks "Is it?" under the key "k-1"
    Then the request is refused as "not_started"
    And the operation is "released"
    And no engine is called
    And nothing is reserved any more

  @service @http @G3
  Scenario: An answer that is saved late is shown when it is asked for again
    Given the ledger cannot save results
    And the assistant has asked "Is it?" under the key "k-1"
    When the ledger works again
    Then the same key soon gets the answer "Yes."
    And the engine was called once
    And nothing is reserved any more

