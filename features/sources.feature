Feature: Sources
  An answer discloses the documents that it was made from. So what a prompt cites is checked when the answer is made,
  and again whenever it is shown, under the access of that day.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Thirty days."
    And the source "handbook" is open to "staff"

  Rule: What may not be read today is not generated from

    @policy @http
    Scenario: A source that may be read
      When the assistant asks "How long?" under the key "k-1" citing the source "handbook"
      Then the answer is "Thirty days."

    @policy @http @policy-source_forbidden
    Scenario: A source that is open to another group
      Given the source "contracts" is open to "legal"
      When the assistant asks "How long?" under the key "k-1" citing the source "contracts"
      Then the request is refused as "access_denied"
      And the refusal names "source_forbidden" for the source 0
      And no engine is called

    @policy @http
    Scenario: A source of another tenant looks like one that nobody knows
      Given the source "ledgers" of the tenant "tenant-a" is open to "staff"
      When the assistant asks "How long?" under the key "k-1" citing the source "ledgers"
      Then the request is refused as "access_denied"
      And a source that never was is refused in the same words

    @policy @http @policy-source_not_current
    Scenario: A source that has been withdrawn
      Given since then the source "handbook" is withdrawn
      When the assistant asks "How long?" under the key "k-1" citing the source "handbook"
      Then the request is refused as "access_denied"
      And the refusal names "source_not_current" for the source 0
      And no engine is called

    @policy @http @policy-source_not_current
    Scenario: A source under embargo
      Given the source "results" is open to "staff" from tomorrow on
      When the assistant asks "How long?" under the key "k-1" citing the source "results"
      Then the request is refused as "access_denied"
      And the refusal names "source_not_current" for the source 0
      And no engine is called

    @policy @http @policy-source_facts_outdated
    Scenario: A source about which nobody has said anything for too long
      Given the source "archive" is open to "staff" as it was two years ago
      When the assistant asks "How long?" under the key "k-1" citing the source "archive"
      Then the request is refused as "access_denied"
      And the refusal names "source_facts_outdated" for the source 0
      And no engine is called

    @policy @policy-source_class_unknown
    Scenario: A source of a class that the registry has not
      Given the source "vault" of the class "secret" is open to "staff"
      When the assistant asks "How long?" under the key "k-1" citing the source "vault"
      Then the request is refused as "access_denied"
      And the refusal names "source_class_unknown" for the source 0
      And no engine is called

    @policy @http
    Scenario: One source of three may not be read
      Given the source "contracts" is open to "legal"
      And the source "faq" is open to "staff"
      When the assistant asks "How long?" under the key "k-1" citing the sources "handbook, contracts, faq"
      Then the request is refused as "access_denied"
      And the refusal names "source_forbidden" for the source 1
      And no engine is called

  Rule: The strictest source decides how strict everything is

    @policy @http @policy-privacy_class_too_low
    Scenario: A private source needs a bundle for that class
      Given the source "salaries" of the class "private" is open to "staff"
      When the assistant asks the model "assist" under the key "k-1" citing the source "salaries"
      Then the request is refused as "no_route_allowed"
      And the refusal names "privacy_class_too_low"
      And no engine is called

    @policy @http
    Scenario: The bundle for that class answers
      Given the source "salaries" of the class "private" is open to "staff"
      When the assistant asks the model "chat" under the key "k-1" citing the source "salaries"
      Then the answer is "Thirty days."

  Rule: A saved answer is shown while all of its sources may be read

    @policy @http @G6
    Scenario: All of them may still be read
      Given the assistant has asked "How long?" under the key "k-1" citing the source "handbook"
      When the assistant asks "How long?" under the key "k-1" citing the source "handbook"
      Then the same answer is shown again, byte for byte
      And the engine was called once

    @policy @http @G6
    Scenario: A general answer has no sources to lose
      Given the assistant has asked "How long?" under the key "k-1"
      And since then the source "handbook" is withdrawn
      When the assistant asks "How long?" under the key "k-1"
      Then the same answer is shown again, byte for byte

    @policy @http @G6 @code-replay_source_forbidden
    @acceptance @acceptance-revocation_on_saved_replay
    Scenario: A source was closed since
      Given the assistant has asked "How long?" under the key "k-1" citing the source "handbook"
      And since then the source "handbook" is closed to "staff"
      When the assistant asks "How long?" under the key "k-1" citing the source "handbook"
      Then the request is refused as "replay_source_forbidden"
      And the refusal tells nothing of "Thirty days." or "handbook"
      And the engine was called once

    @policy @http @G6
    @acceptance @acceptance-partial_revocation
    Scenario: One source of three was closed since
      Given the source "faq" is open to "staff"
      And the source "notes" is open to "staff"
      And the assistant has asked "How long?" under the key "k-1" citing the sources "handbook, faq, notes"
      And since then the source "faq" is closed to "staff"
      When the assistant asks "How long?" under the key "k-1" citing the sources "handbook, faq, notes"
      Then the request is refused as "replay_source_forbidden"
      And the refusal tells nothing of "Thirty days." or "faq"
      And the engine was called once

    @policy @http @G6
    Scenario: The operation is still there to look at
      Given the assistant has asked "How long?" under the key "k-1" citing the source "handbook"
      And since then the source "handbook" is closed to "staff"
      When the assistant looks at the operation
      Then it shows the bundle "chat@1" and the profile "smollm2-135m"
      And it shows no text of the answer

    @policy @http @G6
    Scenario: A source that was closed and is open again
      Given the assistant has asked "How long?" under the key "k-1" citing the source "handbook"
      And since then the source "handbook" is closed to "staff"
      And since then the source "handbook" is open to "staff" again
      When the assistant asks "How long?" under the key "k-1" citing the source "handbook"
      Then the same answer is shown again, byte for byte
      And the engine was called once

    @policy @http @G6
    Scenario: A source was withdrawn while the answer was being generated
      Given the engine is slow
      And the assistant is waiting for an answer to "How long?" under the key "k-1" citing the source "handbook"
      And since then the source "handbook" is withdrawn
      When the engine's answer arrives after all
      Then the request is refused as "replay_source_forbidden"
      And the refusal tells nothing of "Thirty days." or "handbook"
      And the operation is "completed"
      And the engine was called once

    @policy @http @G6
    Scenario: A source was opened to others while the answer was being generated
      Given the engine is slow
      And the assistant is waiting for an answer to "How long?" under the key "k-1" citing the source "handbook"
      And since then the source "handbook" is open to "press" as well
      When the engine's answer arrives after all
      Then the answer is "Thirty days."
      And the engine was called once
