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
