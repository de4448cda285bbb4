Feature: Privacy
  How strictly a request is handled follows from its tenant, its purpose and its sources. The caller can only raise it.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Yes."

  Rule: A private tenant reaches private profiles alone

    @policy @http @policy-alias_not_allowed
    Scenario: Tenant A asks a model of a hosted provider
      When "tenant-a/advisor" asks the model "assist" under the key "k-1"
      Then the request is refused as "access_denied"
      And the refusal names "alias_not_allowed"
      And no engine is called

    @policy @http @policy-network_not_allowed @policy-data_handling_not_allowed
    @policy-privacy_class_too_low @policy-provider_not_allowed @policy-credential_not_for_tenant
    Scenario Outline: A careless change of the registry does not open it to a hosted provider
      Given in the registry Tenant A is given the hosted model
      When "tenant-a/advisor" asks the model "assist" under the key "k-1"
      Then the request is refused as "no_route_allowed"
      And the refusal names "<code>"
      And no engine is called

      Examples:
        | code                      |
        | privacy_class_too_low     |
        | network_not_allowed       |
        | data_handling_not_allowed |
        | provider_not_allowed      |
        | credential_not_for_tenant |

    @http
    Scenario: An engine of one tenant answers no other
      When "tenant-a/advisor" asks the model "chat" under the key "k-1"
      Then the request is refused as "no_ready_route"
      And no engine is called

  Rule: What a class asks for is written in the registry

    @policy
    @policy-engine_not_attested @policy-device_shared @policy-network_not_allowed @policy-data_handling_not_allowed
    @policy-evaluation_insufficient @policy-bundle_not_for_purpose
    Scenario Outline: The profile does not give what the class asks for
      Given in the registry <change>
      When the assistant asks "Is it?" under the key "k-1"
      Then the request is refused as "no_route_allowed"
      And the refusal names "<code>"
      And no engine is called

      Examples:
        | change                                           | code                      |
        | every class asks for attested engines            | engine_not_attested       |
        | the device of the engine is shared by time       | device_shared             |
        | no class allows the network of the engine        | network_not_allowed       |
        | the operator of the engine keeps prompts         | data_handling_not_allowed |
        | the evaluation of the bundle was not good enough | evaluation_insufficient   |
        | the evaluation of the bundle is too old          | evaluation_insufficient   |
        | the bundle was not evaluated for the purpose     | bundle_not_for_purpose    |

  Rule: Nothing in a request lowers it or names a destination

    @policy @http @G7 @code-unknown_model
    Scenario Outline: What is not a released alias is unknown
      When the assistant asks the model "<model>" under the key "k-1"
      Then the request is refused as "unknown_model"
      And no engine is called

      Examples:
        | model                |
        | smollm2-135m         |
        | in-house/chat        |
        | openai/gpt-4.1-mini  |
        | chat@1               |
        | Chat                 |
        | chatt                |

    @http @G7
    Scenario: The caller says that it is somebody else
      When the assistant asks "Is it?" under the key "k-1" claiming to be an administrator of "tenant-a"
      Then the answer is "Yes."
      And the operation belongs to the assistant of "acme"

    @http @G7
    Scenario: The caller calls its request public
      When the assistant asks "Is it?" under the key "k-1" with "privacy_class" in the extension
      Then the request is refused as "unknown_field"
      And no engine is called

  Rule: Roles

    @policy @policy-role_missing
    Scenario: An account that may not generate
      Given in the registry the assistant is an auditor
      When the assistant asks "Is it?" under the key "k-1"
      Then the request is refused as "access_denied"
      And the refusal names "role_missing"
      And no engine is called

    @policy @http @G6 @policy-role_missing
    Scenario: A role that was taken away shows no saved answers either
      Given the assistant has asked "Is it?" under the key "k-1"
      And since then the assistant is an auditor
      When the assistant asks "Is it?" under the key "k-1"
      Then the request is refused as "replay_forbidden"
      And the refusal names "role_missing"
      And the engine was called once
