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
