@http
Feature: A request is read one way only
  What two readers could read differently is refused before anything else looks at it, and nothing in a
  request can name a destination.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Yes."

  @code-operation_key_required
  Scenario: Without a key there is no operation
    When the assistant asks "Is it?" without a key
    Then the request is refused as "operation_key_required"
    And no engine is called

  @code-operation_key_invalid
  Scenario: A key that cannot be compared
    When the assistant asks "Is it?" under a key of 256 letters
    Then the request is refused as "operation_key_invalid"
    And no engine is called

  @G7 @code-unknown_field
  Scenario Outline: Nothing in a request names a destination
    When the assistant sends the extra field "<field>" under the key "k-1"
    Then the request is refused as "unknown_field"
    And the refusal is about "<field>"
    And no engine is called

    Examples:
      | field           |
      | api_base        |
      | base_url        |
      | extra_body      |
      | fallbacks       |
      | mock_response   |
      | privacy         |
      | gateway.profile |

  @code-malformed_body
  Scenario Outline: A body that is not one plain JSON object
    When the assistant sends as the body <body> under the key "k-1"
    Then the request is refused as "malformed_body"
    And no engine is called

    Examples:
      | body               |
      | no JSON            |
      | a list             |
      | a key twice        |
      | deep nesting       |
      | half a character   |

  @code-invalid_value
  Scenario: Both names of the output cap at once
    When the assistant asks "Is it?" under the key "k-1" with both caps
    Then the request is refused as "invalid_value"
    And no engine is called

  @code-stream_unsupported
  Scenario: Streaming is not served yet
    When the assistant asks "Is it?" under the key "k-1" as a stream
    Then the request is refused as "stream_unsupported"
    And no engine is called

  @code-query_not_allowed
  Scenario: A model in the query is not a second way to ask
    When the assistant asks "Is it?" under the key "k-1" with "?model=other" in the address
    Then the request is refused as "query_not_allowed"
    And no engine is called

  @code-body_too_large
  Scenario: A body beyond the limit is not read to its end
    When the assistant sends two million letters under the key "k-1"
    Then the request is refused as "body_too_large"
    And no engine is called

  @code-body_timeout
  Scenario: A body that does not arrive
    Given the gateway waits 1 second for a body
    When the assistant sends half a body and waits
    Then the request is refused as "body_timeout"
    And no engine is called

  @code-unauthenticated
  Scenario: A credential that nobody issued
    When a stranger asks "Is it?" under the key "k-1"
    Then the request is refused as "unauthenticated"
    And no engine is called

  @code-not_found
  Scenario: A path that does not exist
    When the assistant asks for the path "/v1/embeddings"
    Then the request is refused as "not_found"

  @code-method_not_allowed
  Scenario: A method that a path does not know
    When the assistant only reads the path "/v1/chat/completions"
    Then the request is refused as "method_not_allowed"
