@service @http
Feature: A governed answer
  A service team asks through the gateway as it would ask a provider. Policy decides, an approved engine
  answers, and the answer is saved before anybody sees it.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "A gateway stands between two worlds."

  @G1 @G2 @move-none-granted @move-granted-dispatching @move-dispatching-completed
  @acceptance @acceptance-approved_dispatch
  Scenario: A permitted question is answered by one call
    When the assistant asks "What is a gateway?" under the key "k-1"
    Then the answer is "A gateway stands between two worlds."
    And the engine was called once
    And the operation is "completed"

  @G9
  Scenario: What was not used is given back
    When the assistant asks "What is a gateway?" under the key "k-1"
    Then the operation is "completed"
    And nothing is reserved any more
    And the engine's own count was booked

  Scenario: The owner looks at the operation
    Given the assistant has asked "What is a gateway?" under the key "k-1"
    When the assistant looks at the operation
    Then the operation is "completed"
    And it shows the bundle "chat@1" and the profile "smollm2-135m"
    And it shows no text of the answer

  @code-unknown_operation
  Scenario: A foreign operation looks like an unknown one
    Given the assistant has asked "What is a gateway?" under the key "k-1"
    When another service account looks at the operation
    Then the request is refused as "unknown_operation"
    And an operation that never was is refused in the same words
