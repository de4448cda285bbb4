@service @http
Feature: What became of a call
  A call that may have happened is never repeated blindly. What surely did not happen may be tried again.

  Background:
    Given the service account "assistant" of the tenant "acme"

  @code-provider_unreachable @move-dispatching-no_effect
  Scenario: An engine that cannot be reached has done nothing
    Given the engine refuses connections
    When the assistant asks "Hello?" under the key "k-1"
    Then the request is refused as "provider_unreachable"
    And the operation is "no_effect"
    And nothing is reserved any more

  Scenario: What was not sent may be tried again under the same key
    Given the engine refuses connections
    And the assistant has asked "Hello?" under the key "k-1"
    When the engine answers "Hello." again
    And the assistant asks "Hello?" under the key "k-1"
    Then the answer is "Hello."
    And the engine was called once

  @code-provider_busy
  Scenario: A busy engine has done nothing
    Given the engine is busy
    When the assistant asks "Hello?" under the key "k-1"
    Then the request is refused as "provider_busy"
    And the operation is "no_effect"
    And nothing is reserved any more

  @code-provider_rejected
  Scenario: An engine that rejects the request has done nothing
    Given the engine rejects the request
    When the assistant asks "Hello?" under the key "k-1"
    Then the request is refused as "provider_rejected"
    And the operation is "no_effect"
    And nothing is reserved any more

  @G5 @code-outcome_unknown @move-dispatching-unknown
  Scenario: A lost answer is kept as unknown
    Given the engine drops the connection after reading the request
    When the assistant asks "Hello?" under the key "k-1"
    Then the request is refused as "outcome_unknown"
    And the operation is "unknown"
    And the reservation is kept
    And the engine was called once

  @G5
  @acceptance @acceptance-unknown_replay_without_retry
  Scenario: An unknown outcome is never tried again
    Given the engine drops the connection after reading the request
    And the assistant has asked "Hello?" under the key "k-1"
    When the engine answers "Hello." again
    And the assistant asks "Hello?" under the key "k-1"
    Then the request is refused as "outcome_unknown"
    And the engine was called once
    And the reservation is kept

  @code-provider_failed_charged @move-dispatching-charged
  Scenario: An answer of another model is paid for and never shown
    Given the engine answers as the model "somebody-else"
    When the assistant asks "Hello?" under the key "k-1"
    Then the request is refused as "provider_failed_charged"
    And the operation is "charged"
    And nothing is reserved any more

  Scenario: A charged failure is told again, not tried again
    Given the engine answers as the model "somebody-else"
    And the assistant has asked "Hello?" under the key "k-1"
    When the engine answers "Hello." again
    And the assistant asks "Hello?" under the key "k-1"
    Then the request is refused as "provider_failed_charged"
    And the engine was called once
