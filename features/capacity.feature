Feature: A profile promises no more than its memory holds
  How many conversations an engine holds at once, and how long each of them may be, is bound by the memory of its
  devices. The registry says what a promise rests on: on arithmetic or on a measurement. What does not fit is told before
  it serves anybody, and an engine that holds less than was promised serves nobody until a person has looked.

  @cli
  Rule: What does not fit does not pass the check

    Scenario: A profile whose concurrency is raised beyond its memory
      Given the profile's device has 1 GiB, of which 0.5 GiB are reserved
      When the registry is checked with 10 conversations of 2048 tokens at once
      Then it does not pass, because of "limits/concurrency" in the profile's file
      And the line is that of "concurrency: 10"
      And it is told that weights, KV state of 0.44 GiB and reserve are above 1.00 GiB
      And it is told that at most 9 conversations fit at this length

    Scenario Outline: A promise is held to the device that it is made for
      Given the profile's device has <device> GiB, of which 0.5 GiB are reserved
      When the registry is checked with <conversations> conversations of <tokens> tokens at once
      Then it <verdict>

      Examples:
        | device | conversations | tokens | verdict       |
        | 1      | 2             | 2048   | passes        |
        | 1      | 9             | 2048   | passes        |
        | 1      | 9             | 4096   | does not pass |
        | 1.4    | 18            | 2048   | passes        |
        | 0.6    | unlimited     | 2048   | does not pass |
        | 0.7    | unlimited     | 2048   | passes        |

    Scenario: Two profiles of one engine promise together no more than it holds
      Given the profile's device has 1 GiB, of which 0.5 GiB are reserved
      And another released profile of the same engine promises 5 conversations
      When the registry is checked with 5 conversations of 2048 tokens at once
      Then it does not pass, because of "limits/concurrency" in the profile's file
      And it is told that at most 9 conversations fit at this length

    Scenario: A conversation is not longer than the model is made for
      Given the profile's device has 64 GiB, of which 0.5 GiB are reserved
      When the registry is checked with 2 conversations of 8193 tokens at once
      Then it does not pass, because of "context_window" in the profile's file

    Scenario Outline: A measurement counts for the engine and the length that it was made with
      Given the engine was measured to hold <held> tokens, in version "<version>" at a length of <length> tokens
      When the registry is checked with 2 conversations of 2048 tokens at once
      Then it <verdict>

      Examples:
        | held | version         | length | verdict       |
        | 4096 | 2026.10.11549   | 2048   | passes        |
        | 4095 | 2026.10.11549   | 2048   | does not pass |
        | 9999 | 2026.10.11548   | 2048   | does not pass |
        | 9999 | 2026.10.11549   | 4096   | does not pass |

    Scenario: Who describes the model anew changes no arithmetic that was approved
      Given the description of the model says that it has fewer layers
      When the registry is checked with 2 conversations of 2048 tokens at once
      Then it does not pass, because of "engine/capacity/architecture" in the profile's file

  Rule: What does not fit is never in force

    @http @code-reload_refused
    Scenario: A reload changes nothing where a promise is beyond the memory
      Given the service account "assistant" of the tenant "acme"
      And the engine answers "Yes."
      And the assistant has asked "Is it?" under the key "k-1"
      When the profile promises more than its memory holds and the operator reloads
      Then the request is refused as "reload_refused"
      And the assistant still gets an answer

  Rule: An engine that holds less than was promised serves nobody

    Background:
      Given the service account "assistant" of the tenant "acme"
      And the engine answers "Yes."

    @service @http @G12
    Scenario: An engine with less room is quarantined, with what was promised and what it reports
      Given the engine has room for 32 of the 64 conversations that were promised
      When the assistant asks "Is it?" under the key "k-1"
      Then the request is refused as "no_ready_route"
      And the profile is "quarantined"
      And the quarantine says that 64 were promised and 32 are reported
      And no engine is called
      And nothing is reserved

    @http @G12
    Scenario: A cache with fewer tokens than were promised quarantines its engine
      Given in the registry the profile's engine is vLLM
      And the engine's cache holds 131071 of the 131072 tokens that were promised
      When the assistant asks "Is it?" under the key "k-1"
      Then the request is refused as "no_ready_route"
      And the quarantine says that 131072 were promised and 131071 are reported
      And no engine is called

    @http @G12
    Scenario: An engine that has grown serves once a person has looked
      Given the engine has room for 32 of the 64 conversations that were promised
      And the assistant has asked "Is it?" under the key "k-1"
      And the engine has room for 64 of the 64 conversations that were promised
      And an operator has released the profile
      When the assistant asks "Is it so?" under the key "k-2"
      Then the answer is "Yes."
      And the profile is "serving"
