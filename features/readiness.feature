Feature: Only what is ready serves
  A profile serves while its engine shows the approved model within the approved bounds. A gateway that is
  ending takes no new work.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Yes."

  @service @http @G12 @code-no_ready_route
  Scenario: An engine with other weights serves nobody
    Given the engine shows another model file
    When the assistant asks "Is it?" under the key "k-1"
    Then the request is refused as "no_ready_route"
    And no engine is called
    And nothing is reserved

  @service @code-not_started @move-granted-released
  Scenario: An engine that is lost between reservation and call
    Given the engine is lost as soon as the request is reserved
    When the assistant asks "Is it?" under the key "k-1"
    Then the request is refused as "not_started"
    And the operation is "released"
    And no engine is called
    And nothing is reserved any more

  @http @code-draining
  Scenario: A gateway that is ending takes no new work
    Given the gateway is draining
    When the assistant asks "Is it?" under the key "k-1"
    Then the request is refused as "draining"
    And no engine is called
