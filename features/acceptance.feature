Feature: What the product is accepted by
  Promises that take more than one request to show. The other scenarios of `make acceptance` stand in the features that
  they belong to, under the tag @acceptance.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Yes."

  @acceptance @acceptance-readiness_and_privacy
  @http @G7 @G12
  Scenario: An engine that is not ready is no reason to give private text to a provider
    Given the engine shows another model file
    And the source "salaries" of the class "private" is open to "staff"
    When the assistant asks the model "chat" under the key "k-1" citing the source "salaries"
    Then the request is refused as "no_ready_route"
    When the assistant asks the model "assist" under the key "k-1" citing the source "salaries"
    Then the request is refused as "no_route_allowed"
    And the refusal names "privacy_class_too_low"
    And no engine is called
    And nothing is reserved

  @acceptance @acceptance-registry_and_provider_refusal
  @http @G7
  Scenario: What the registry has not, or not for this tenant, is reached by nobody
    Given in the registry the tenant may use another provider only
    When the assistant asks the model "gpt-x" under the key "k-1"
    Then the request is refused as "unknown_model"
    When the assistant asks the model "chat" under the key "k-1"
    Then the request is refused as "no_route_allowed"
    And the refusal names "provider_not_allowed"
    And no engine is called
    And nothing is reserved

  @acceptance @acceptance-context_and_output_bounds
  @service @http @G8
  Scenario: Output, and input with output, are held to the profile before anything is reserved
    When the assistant asks "Is it?" under the key "k-1" with max_tokens 257
    Then the request is refused as "output_exceeds_profile"
    When the assistant asks a question of 3000 letters under the key "k-1"
    Then the request is refused as "context_exceeded"
    And no engine is called
    And nothing is reserved
    When the assistant asks "Is it?" under the key "k-1" with max_tokens 256
    Then the answer is "Yes."
    And the engine was told to stop at 256 tokens
