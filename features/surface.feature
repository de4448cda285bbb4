Feature: What a request may ask for
  Functions, shapes of the answer, images and more, each only where a profile of the released bundle serves it.
  What a profile does not serve is refused, and never left out in silence.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Yes."

  @service @http
  Rule: Functions are called by the caller, and their results are sent again

    Background:
      Given in the registry the engine's profile also serves functions

    Scenario: A call comes back, and its result goes into the next request
      Given the engine calls the function "weather" with the arguments '{"city": "Bern"}'
      When the assistant offers the function "weather" under the key "k-1"
      Then the answer calls the function "weather" with the arguments '{"city": "Bern"}'
      When the engine answers "It is sunny." again
      And the assistant sends the result "Sunny." of that call under the key "k-2"
      Then the answer is "It is sunny."
      And the engine received the call and its result "Sunny."

    Scenario: A call is shown again like any other answer
      Given the engine calls the function "weather" with the arguments '{"city": "Bern"}'
      And the assistant has offered the function "weather" under the key "k-1"
      When the assistant offers the function "weather" under the key "k-1"
      Then the same answer is shown again, byte for byte
      And the engine was called once

    @code-operation_key_reused
    Scenario: The same key with another function is another request
      Given the assistant has offered the function "weather" under the key "k-1"
      When the assistant offers the function "time" under the key "k-1"
      Then the request is refused as "operation_key_reused"
      And the conflict names "tools"
      And the engine was called once

    @code-operation_key_reused
    Scenario: The same key with another shape of the answer is another request
      Given the assistant has asked for JSON under the key "k-1"
      When the assistant asks for an answer that obeys a schema under the key "k-1"
      Then the request is refused as "operation_key_reused"
      And the conflict names "response_format"
      And the engine was called once

  @http
  Rule: A history is in order before anybody else sees it

    Background:
      Given in the registry the engine's profile also serves functions
      And the engine calls the function "weather" with the arguments '{"city": "Bern"}'
      And the assistant has offered the function "weather" under the key "k-1"

    @code-invalid_value
    Scenario: A call that nobody answered
      When the assistant goes on without the result of that call under the key "k-2"
      Then the request is refused as "invalid_value"
      And the refusal is about "messages[1].tool_calls"
      And the engine was called once

    @code-invalid_value
    Scenario: A result of a call that nobody made
      When the assistant sends the result of another call under the key "k-2"
      Then the request is refused as "invalid_value"
      And the refusal is about "messages[2].tool_call_id"
      And the engine was called once

  @http
  Rule: The shape of the answer is passed on

    Scenario: An answer that obeys a schema
      Given the engine answers in JSON
      When the assistant asks for an answer that obeys a schema under the key "k-1"
      Then the answer obeys the schema
      And the engine was given the schema

    Scenario: How likely each token was, for those who ask
      Given the engine tells how likely its tokens were
      When the assistant asks for the likelihood of each token under the key "k-1"
      Then the answer tells how likely each token was

    Scenario: How likely each token was is not shown to others
      Given the engine tells how likely its tokens were
      When the assistant asks "Is it?" under the key "k-1"
      Then the answer does not tell how likely its tokens were

    Scenario: A model that declines has answered
      Given the engine declines with "I may not say that."
      When the assistant asks "Is it?" under the key "k-1"
      Then the answer declines with "I may not say that."
      And the operation is "completed"

  @http
  Rule: An image is in the request itself

    Scenario: An image goes to a profile that reads images
      Given in the registry the engine's profile also reads images
      When the assistant shows an image under the key "k-1"
      Then the answer is "Yes."
      And the engine received the image

    @G7 @code-invalid_value
    Scenario Outline: An address is a destination
      Given in the registry the engine's profile also reads images
      When the assistant shows the image "<address>" under the key "k-1"
      Then the request is refused as "invalid_value"
      And the refusal is about "messages[0].content[0].image_url.url"
      And no engine is called
      And nothing is reserved

      Examples:
        | address                      |
        | http://169.254.169.254/      |
        | https://images.example/a.png |
        | file:///etc/passwd           |

  @http
  Rule: What no profile serves is refused by policy

    @code-no_route_allowed @policy-capability_missing
    Scenario Outline: A feature that the profile does not have
      When the assistant asks with <feature> under the key "k-1"
      Then the request is refused as "no_route_allowed"
      And the refusal names "capability_missing"
      And no engine is called
      And nothing is reserved

      Examples:
        | feature            |
        | functions          |
        | an image           |
        | a reasoning effort |
