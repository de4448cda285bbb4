Feature: Nothing leaks
  Prompts, answers and credentials are content. They are in the request, in the call and in the saved result,
  and nowhere else: not in a log, a metric, an audit row, an error or a file that an operator reads.

  Background:
    Given the service account "assistant" of the tenant "acme"

  @http @G11
  Scenario: An answered question leaves its words in the saved result alone
    Given the engine answers "CANARY-A"
    When the assistant asks "CANARY-P" under the key "CANARY-K"
    Then the answer is "CANARY-A"
    And the words "CANARY-P" and "CANARY-K" are found nowhere
    And the word "CANARY-A" is found in the saved result only
    And no credential is found anywhere

  @http @G11
  Scenario Outline: A failed question leaves its words nowhere
    Given the engine <fails>
    When the assistant asks "CANARY-P" under the key "CANARY-K"
    Then the request is refused as "<code>"
    And the words "CANARY-P" and "CANARY-K" are found nowhere
    And no credential is found anywhere

    Examples:
      | fails                                           | code                    |
      | repeats the request in an error                 | outcome_unknown         |
      | drops the connection after reading the request  | outcome_unknown         |
      | rejects the request                             | provider_rejected       |
      | answers as the model "CANARY-M"                 | provider_failed_charged |
