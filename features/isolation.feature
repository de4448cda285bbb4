Feature: Nobody learns through an engine's cache what somebody else has asked
  An engine that has just read a text reads it faster the second time, and whoever measures that learns what another has
  sent. Engines that can keep such prefixes apart are told whose each is, by a salt that nobody can choose or guess.

  Background:
    Given in the registry two tenants share an engine that salts its cache by tenant
    And the engine answers "Yes."

  @http
  Scenario: Two tenants on one engine have two salts
    When the assistant asks "Is it?" under the key "k-1"
    And "tenant-a/advisor" asks the model "chat" under the key "k-1"
    Then both were answered by the engine
    And the engine saw two salts

  @http
  Scenario: One tenant has one salt, whoever of it asks
    When the assistant asks "Is it?" under the key "k-1"
    And another service account asks "Is it?" under the key "k-1"
    Then both were answered by the engine
    And the engine saw one salt

  @http
  Scenario: Where the profile says so, each account has a salt of its own
    Given in the registry the shared engine salts its cache by principal
    When the assistant asks "Is it?" under the key "k-1"
    And another service account asks "Is it?" under the key "k-1"
    Then both were answered by the engine
    And the engine saw two salts

  @http
  Scenario: A salt stays what it is when the gateway starts again
    Given the assistant has asked "Is it?" under the key "k-1"
    And the gateway was started again since
    When the assistant asks "Is it?" under the key "k-2"
    Then both were answered by the engine
    And the engine saw one salt

  @http @code-unknown_field
  Scenario: A caller chooses no salt
    When the assistant sends the extra field "cache_salt" under the key "k-1"
    Then the request is refused as "unknown_field"
    And the refusal is about "cache_salt"
    And no engine is called
