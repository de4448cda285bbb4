@service @http
Feature: Answers that come late
  An answer is evidence whenever it comes. It settles an unknown outcome; it never changes what is closed.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Late."
    And the engine is slow
    And the assistant is waiting for an answer to "Is it?" under the key "k-1"

  @move-unknown-completed
  Scenario: A late answer settles an unknown
    Given the gateway is taken for dead by mistake
    When the engine's answer arrives after all
    Then the answer is "Late."
    And the operation is "completed"
    And nothing is reserved any more

  Scenario: A late answer after a write-off is kept as evidence
    Given the gateway is taken for dead by mistake
    When the assistant asks "Is it?" under the key "k-1"
    And an operator writes it off because "the replica is gone"
    And the engine's answer arrives after all
    Then the request is refused as "outcome_unknown"
    And the operation is "closed"
    And all that was reserved was booked
    And the timeline tells "claimed, dispatching, unknown, closed, evidence"
