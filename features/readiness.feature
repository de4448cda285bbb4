Feature: Only what is ready serves
  A profile serves while its engine shows the approved model within the approved bounds, and has answered one fixed
  token. A person takes a profile out of service for a while; the gateway does so for good, until a person has looked,
  once an engine is not what was approved. A gateway that is ending takes no new work.

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

  @service @http @G12
  Scenario: A drained profile gets no new work
    Given an operator has drained the profile
    When the assistant asks "Is it?" under the key "k-1"
    Then the request is refused as "no_ready_route"
    And the profile is "draining"
    And no engine is called
    And nothing is reserved

  @service @http @G12
  Scenario: What a drained profile has answered is still given back
    Given the assistant has asked "Is it?" under the key "k-1"
    And an operator has drained the profile
    When the assistant asks "Is it?" under the key "k-1"
    Then the same answer is shown again, byte for byte
    And the engine was called once

  @service @http
  Scenario: A drained profile finishes what it has begun
    Given the engine is slow
    And the assistant is waiting for an answer to "Is it?" under the key "k-1"
    And an operator has drained the profile
    When the engine's answer arrives after all
    Then the answer is "Yes."

  @service @http
  Scenario: A drained profile is given work again
    Given an operator has drained the profile
    And an operator has resumed the profile
    When the assistant asks "Is it?" under the key "k-1"
    Then the answer is "Yes."
    And the profile is "serving"

  @service @http @G12
  Scenario: An engine that answers as another model is quarantined
    Given the engine answers as the model "other@2"
    And the assistant has asked "Is it?" under the key "k-1"
    And the engine answers "Yes."
    When the assistant asks "Is it so?" under the key "k-2"
    Then the request is refused as "no_ready_route"
    And the profile is "quarantined"
    And the engine was called once

  @service @http @G12
  Scenario: Only a person ends a quarantine
    Given the engine answers as the model "other@2"
    And the assistant has asked "Is it?" under the key "k-1"
    And the engine answers "Yes."
    And an operator has released the profile
    When the assistant asks "Is it so?" under the key "k-2"
    Then the answer is "Yes."
    And the profile is "serving"

  @http @G12
  Scenario: A quarantine outlives a restart
    Given the engine answers as the model "other@2"
    And the assistant has asked "Is it?" under the key "k-1"
    And the engine answers "Yes."
    And the gateway was started again since
    When the assistant asks "Is it so?" under the key "k-2"
    Then the request is refused as "no_ready_route"
    And the profile is "quarantined"
    And the engine was called once

  @service @http @code-profile_act_not_legal
  Scenario: What was not quarantined cannot be released
    When an operator tries to release the profile
    Then the request is refused as "profile_act_not_legal"
    And the profile is "serving"

  @service @http @code-unknown_profile
  Scenario: A profile that the registry does not have cannot be drained
    When an operator tries to drain the profile "elsewhere"
    Then the request is refused as "unknown_profile"

  @http @G12
  Scenario: An engine that is still loading is not taken for one that has failed
    Given the engine is loading
    When the assistant asks "Is it?" under the key "k-1"
    Then the request is refused as "no_ready_route"
    And its engine is seen to be "starting"
    And no engine is called

  @http @G12
  Scenario: An engine that loads for longer than it may has failed
    Given in the registry the engine may load for one second
    And the engine is loading
    When the engine has been loading for too long
    Then its engine is seen to be "unready"
