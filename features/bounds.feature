@service @http
Feature: Bounds of a profile
  A request is held to the envelope of the profile that serves it before anything is reserved or sent.
  The cap that is reserved is the cap that the engine gets.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Yes."

  @G8
  Scenario: Without a cap of its own a request gets the profile's maximum
    When the assistant asks "Is it?" under the key "k-1"
    Then the answer is "Yes."
    And the engine was told to stop at 256 tokens

  @G8
  Scenario: The largest allowed output is served
    When the assistant asks "Is it?" under the key "k-1" with max_tokens 256
    Then the answer is "Yes."
    And the engine was told to stop at 256 tokens

  @G8 @code-output_exceeds_profile
  Scenario: One token more is refused
    When the assistant asks "Is it?" under the key "k-1" with max_tokens 257
    Then the request is refused as "output_exceeds_profile"
    And no engine is called
    And nothing is reserved

  @G8 @code-context_exceeded
  Scenario: Input and output must fit the context window together
    When the assistant asks a question of 3000 letters under the key "k-1"
    Then the request is refused as "context_exceeded"
    And no engine is called
    And nothing is reserved
