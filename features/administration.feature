@http
Feature: Administration
  Who administers is decided by policy as well. Everything that is changed is in force at once, and on record.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Yes."

  Rule: Operators change, auditors look, others do neither

    @code-operator_required @policy-administration_not_allowed
    Scenario Outline: An account without the role
      When "acme/assistant" wants to <act>
      Then the request is refused as "operator_required"
      And the refusal names "administration_not_allowed"

      Examples:
        | act                     |
        | list the keys           |
        | revoke a key            |
        | grant a source          |
        | list the operations     |
        | write off an operation  |
        | verify the ledger       |
        | look at the budgets     |
        | count the outcomes      |
        | explain a decision      |
        | reload the registry     |

    Scenario Outline: An operator of the registry
      When "platform/operations" wants to <act>
      Then it is done

      Examples:
        | act                 |
        | list the keys       |
        | grant a source      |
        | list the operations |
        | verify the ledger   |
        | look at the budgets |
        | count the outcomes  |
        | reload the registry |

    Scenario Outline: An auditor looks at everything
      When "platform/audit" wants to <act>
      Then it is done

      Examples:
        | act                 |
        | list the keys       |
        | list the sources    |
        | list the operations |
        | look at the budgets |
        | count the outcomes  |

    @code-operator_required
    Scenario Outline: An auditor changes nothing
      When "platform/audit" wants to <act>
      Then the request is refused as "operator_required"

      Examples:
        | act                 |
        | revoke a key        |
        | grant a source      |
        | reload the registry |

    @policy-operator_tenant_not_active
    Scenario: An operator of a tenant that is not active
      Given in the registry the platform's tenant is not active
      When "platform/operations" wants to list the keys
      Then the request is refused as "operator_required"
      And the refusal names "operator_tenant_not_active"

    @G10
    Scenario: Without policy nobody administers
      Given policy cannot be evaluated
      When "platform/operations" wants to list the operations
      Then the request is refused as "policy_unavailable"

  Rule: Keys

    Scenario: A revoked key stops at once
      Given the assistant has asked "Is it?" under the key "k-1"
      When the operator revokes the assistant's key
      And the assistant asks "Is it?" under the key "k-1"
      Then the request is refused as "unauthenticated"
      And the engine was called once

    Scenario: Another key of the same account goes on
      Given the assistant has asked "Is it?" under the key "k-1"
      When the operator makes a key for "assistant" of "acme"
      And the operator revokes the assistant's key
      And the assistant asks "Is it?" under the key "k-1" with that credential
      Then the same answer is shown again, byte for byte

    @G6
    Scenario: A key that is revoked while the answer is being generated
      Given the engine is slow
      And the assistant is waiting for an answer to "Is it?" under the key "k-1"
      When the operator revokes the assistant's key
      And the engine's answer arrives after all
      Then the request is refused as "unauthenticated"
      And the engine was called once

    @code-unknown_key
    Scenario: A key that nobody has
      When the operator revokes the key "no-such-key"
      Then the request is refused as "unknown_key"

  Rule: Sources

    @code-unknown_source
    Scenario: Only a source that is there can be closed
      When the operator closes the source "handbook" to "staff"
      Then the request is refused as "unknown_source"

    @code-unknown_tenant
    Scenario: A source belongs to a tenant of the registry
      When the operator opens the source "handbook" of "nobody" to "staff"
      Then the request is refused as "unknown_tenant"

    @code-source_of_other_tenant
    Scenario: A source stays with its tenant
      Given the source "handbook" is open to "staff"
      When the operator opens the source "handbook" of "tenant-a" to "staff"
      Then the request is refused as "source_of_other_tenant"

    @code-source_withdrawn
    Scenario: What was withdrawn is not opened again
      Given the source "handbook" is open to "staff"
      And since then the source "handbook" is withdrawn
      When the operator opens the source "handbook" of "acme" to "staff"
      Then the request is refused as "source_withdrawn"

    Scenario: Another revision of it is
      Given the source "handbook" is open to "staff"
      And since then the source "handbook" is withdrawn
      And since then the source "handbook" is open to "staff" at the revision "2"
      When the assistant asks "Is it?" under the key "k-1" citing the source "handbook" at the revision "2"
      Then the answer is "Yes."

  Rule: A reload takes all of the files or nothing

    Scenario: A change is in force without a restart
      Given the assistant has asked "Is it?" under the key "k-1"
      When the tenant may no longer use the purpose and the operator reloads
      And the assistant asks "Is it not?" under the key "k-2" for the purpose "drafting"
      Then the request is refused as "access_denied"
      And the refusal names "purpose_not_allowed"

    @code-reload_refused
    Scenario: Files with a fault change nothing
      When the registry is broken and the operator reloads
      Then the request is refused as "reload_refused"
      And the refusal names the file and the line
      And the assistant still gets an answer

    @code-reload_refused
    Scenario: A tenant with an open operation is not dropped
      Given the engine drops the connection after reading the request
      And the assistant has asked "Is it?" under the key "k-1"
      When the tenant is removed and the operator reloads
      Then the request is refused as "reload_refused"
      And the operation is "unknown"

  Rule: A decision can be explained to those who look after policy

    @code-unknown_decision
    Scenario: A decision that never was
      When the operator asks for the reasons of a decision that never was
      Then the request is refused as "unknown_decision"

    Scenario: The rule, its file and its line
      Given the assistant has asked "Is it?" under the key "k-1" for the purpose "training"
      When the operator asks for the reasons of the decision
      Then the explanation names "request/purpose" in "policies/gateway/request/purpose/purpose.rego"

    Scenario: What every profile failed
      Given in the registry the approval of the profile has expired
      And the assistant has asked "Is it?" under the key "k-1"
      When the operator asks for the reasons of the decision
      Then the explanation names "route/approved" of "smollm2-135m" in "policies/gateway/route/approved/approved.rego"
      And the refusal told the caller no profile and no file

  Rule: Models

    Scenario: An account sees the aliases of its tenant
      When "acme/assistant" lists the models
      Then the models are "assist, chat"

    Scenario: Another tenant sees its own
      When "tenant-a/advisor" lists the models
      Then the models are "chat"

    Scenario: An operator sees none
      When "platform/operations" lists the models
      Then there are no models
