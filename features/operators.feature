Feature: Operators
  Operators make credentials and look at everything; they generate nothing.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Yes."

  @http
  Scenario: A new key works at once
    When the operator makes a key for "assistant" of "acme"
    And the assistant asks "Is it?" under the key "k-1" with that credential
    Then the answer is "Yes."

  @http @code-unknown_principal
  Scenario: A key is only made for a service account of the registry
    When the operator makes a key for "nobody" of "acme"
    Then the request is refused as "unknown_principal"

  @http @code-operator_required
  Scenario: A service account makes no keys
    When the assistant makes a key for "assistant" of "acme"
    Then the request is refused as "operator_required"

  @service @http @code-not_a_tenant_principal
  Scenario: An operator's credential generates nothing
    When the operator asks "Is it?" under the key "k-1"
    Then the request is refused as "not_a_tenant_principal"
    And no engine is called
    And nothing is reserved

  Rule: An unknown outcome is closed by evidence or by a named operator

    Background:
      Given the engine drops the connection after reading the request
      And the assistant has asked "Is it?" under the key "k-1"

    @service @http @G5 @move-unknown-closed
    Scenario: A write-off books all that was reserved
      When an operator writes it off because "the provider keeps no record"
      Then the operation is "closed"
      And all that was reserved was booked
      And nothing is reserved any more

    @service @http @code-operation_closed
    Scenario: A closed operation stays closed for its key
      Given an operator has written it off because "the provider keeps no record"
      When the engine answers "Yes." again
      And the assistant asks "Is it?" under the key "k-1"
      Then the request is refused as "operation_closed"
      And the engine was called once

    @service @http @code-act_not_legal
    Scenario: A write-off is final
      Given an operator has written it off because "the provider keeps no record"
      When an operator finds that 40 and 3 tokens were used: "invoice 17"
      Then the request is refused as "act_not_legal"
      And the operation is "closed"
      And all that was reserved was booked

    @service @http @move-unknown-charged
    Scenario: Evidence of what was used books just that
      When an operator finds that 40 and 3 tokens were used: "invoice 17"
      Then the operation is "charged"
      And 43 tokens were booked
      And nothing is reserved any more

    @service @http @code-act_too_early
    Scenario: That nothing happened cannot be found while the sender may still send
      When an operator finds that nothing happened: "the provider's log has no such request"
      Then the request is refused as "act_too_early"
      And the operation is "unknown"
      And the reservation is kept

    @service @http
    Scenario: That nothing happened can be found once the sender has ended
      Given the gateway was started again since
      When an operator finds that nothing happened: "the provider's log has no such request"
      Then the operation is "closed"
      And nothing was booked
      And nothing is reserved any more

    @service @http
    Scenario: Even then its key gets no other attempt
      Given the gateway was started again since
      When an operator finds that nothing happened: "the provider's log has no such request"
      And the engine answers "Yes." again
      And the assistant asks "Is it?" under the key "k-1"
      Then the request is refused as "operation_closed"
      And the engine was called once

    @service @http
    Scenario: A freed slot serves others while the tokens stay reserved
      When an operator frees its slot because "the engine was restarted"
      Then the operation is "unknown"
      And its slot is free and its tokens stay reserved

    @service @http
    Scenario: Everything that happened is told in order
      When an operator writes it off because "the provider keeps no record"
      Then the timeline tells "claimed, dispatching, unknown, closed"
