@service @http
Feature: The same key again
  A key stands for one generation. Whoever repeats it gets that generation's answer or is told what became
  of it; nothing is sent a second time.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Forty-two."

  Rule: The saved answer is shown again

    @G4
    Scenario: A repeated request gets the stored answer
      Given the assistant has asked "The answer?" under the key "k-1"
      When the assistant asks "The answer?" under the key "k-1"
      Then the same answer is shown again, byte for byte
      And the engine was called once

    Scenario: Another spelling of the same request is the same request
      Given the assistant has asked "The answer?" under the key "k-1"
      When the assistant asks the same in another spelling under the key "k-1"
      Then the same answer is shown again, byte for byte
      And the engine was called once

    Scenario: Two keys are two generations
      Given the assistant has asked "The answer?" under the key "k-1"
      When the assistant asks "The answer?" under the key "k-2"
      Then the answer is "Forty-two."
      And the engine was called 2 times

    Scenario: A key belongs to its service account
      Given the assistant has asked "The answer?" under the key "k-1"
      When another service account asks "The answer?" under the key "k-1"
      Then the answer is "Forty-two."
      And the engine was called 2 times

  Rule: Another request under the same key is a conflict

    @code-operation_key_reused
    @acceptance @acceptance-input_conflict
    Scenario Outline: The conflict names the field that differs
      Given the assistant has asked "The answer?" under the key "k-1"
      When the assistant asks "The answer?" under the key "k-1" with <field> <value>
      Then the request is refused as "operation_key_reused"
      And the conflict names "<field>"
      And the engine was called once

      Examples:
        | field       | value |
        | temperature | 0.9   |
        | top_p       | 0.5   |
        | max_tokens  | 17    |
        | seed        | 4     |

  Rule: A generation that still runs is not started again

    @code-operation_in_progress
    Scenario: A second request while the first runs
      Given the engine is slow
      And the assistant is waiting for an answer to "The answer?" under the key "k-1"
      When the assistant asks "The answer?" under the key "k-1"
      Then the request is refused as "operation_in_progress"
      And the engine was called once

    @G1
    Scenario: Ten instances ask at once
      When ten instances of the assistant ask "The answer?" under the key "k-1" at once
      Then each got the same answer or was told that it is in progress
      And the engine was called once

  Rule: Access is decided again before a saved answer is shown

    @G6 @code-replay_forbidden
    Scenario: The purpose was taken away since
      Given the assistant has asked "The answer?" under the key "k-1"
      And since then the tenant may no longer use the purpose
      When the assistant asks "The answer?" under the key "k-1"
      Then the request is refused as "replay_forbidden"
      And the engine was called once
