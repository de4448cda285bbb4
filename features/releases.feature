@http
Feature: Releases
  An alias stands for the bundle that is released today. An operation stays with the bundle that it began with.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Hello."

  Scenario: A new operation gets the bundle that is released today
    Given in the registry another bundle is released
    And the assistant has asked "Hello?" under the key "k-1"
    When the assistant looks at the operation
    Then it shows the bundle "chat@2" and the profile "smollm2-135m"

  @acceptance @acceptance-original_bundle_across_releases
  Scenario: A saved answer is shown whatever is released since
    Given the assistant has asked "Hello?" under the key "k-1"
    And since then another bundle is released
    When the assistant asks "Hello?" under the key "k-1"
    Then the same answer is shown again, byte for byte
    And the engine was called once

  @code-bundle_superseded
  Scenario: An operation is not tried again with another bundle
    Given the engine is busy
    And the assistant has asked "Hello?" under the key "k-1"
    And since then another bundle is released
    When the engine answers "Hello." again
    And the assistant asks "Hello?" under the key "k-1"
    Then the request is refused as "bundle_superseded"
    And the engine was called once

  @G5
  Scenario: An unknown outcome stays unknown whatever is released since
    Given the engine drops the connection after reading the request
    And the assistant has asked "Hello?" under the key "k-1"
    And since then another bundle is released
    When the engine answers "Hello." again
    And the assistant asks "Hello?" under the key "k-1"
    Then the request is refused as "outcome_unknown"
    And the operation keeps the bundle "chat@1"
    And the engine was called once

  Scenario: A hosted bundle is not ready yet
    When the assistant asks the model "assist" under the key "k-1"
    Then the request is refused as "no_ready_route"
    And no engine is called

  Scenario: An alias moves from a hosted to a self-hosted bundle
    Given in the registry the hosted alias moves to the self-hosted bundle
    When the assistant asks the model "assist" under the key "k-1"
    Then the answer is "Hello."
    And the operation keeps the bundle "chat@1"
