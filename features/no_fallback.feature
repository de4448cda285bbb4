@http
Feature: No other engine is tried
  Once a request may have been sent, no other engine gets it: a second answer could cost, and act, twice.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And a spare engine is approved for the same model
    And the engine never answers

  @G5 @code-outcome_unknown
  Scenario: A spare engine stands idle while the first one's outcome is unknown
    When the assistant asks "Is it?" under the key "k-1"
    Then the request is refused as "outcome_unknown"
    And the operation is "unknown"
    And the spare engine stays idle

  Scenario: It stays idle for the next request with that key
    Given the assistant has asked "Is it?" under the key "k-1"
    When the assistant asks "Is it?" under the key "k-1"
    Then the request is refused as "outcome_unknown"
    And the engine was called once
    And the spare engine stays idle
