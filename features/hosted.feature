@http
Feature: Hosted providers
  A hosted provider is called like an engine of one's own: once, within the same bounds, for the tenants of its
  credential. It gets the request and its own credential; nobody else gets either.

  Background:
    Given the service account "assistant" of the tenant "acme"

  @G1 @G7
  Scenario: A hosted model answers
    Given the first hosted provider answers "From afar."
    And the first hosted provider is ready
    When the assistant asks a hosted provider "Hello?" under the key "k-1"
    Then the answer is "From afar."
    And only the first hosted provider was called, and once
    And the operation is "completed"
    And nothing is reserved any more
    And the credential of the provider is found with the provider alone

  @G12
  Scenario: Where the first provider has no credential the second serves, in its own language
    Given the second hosted provider answers "From elsewhere."
    And the second hosted provider is ready
    When the assistant asks a hosted provider "Hello?" under the key "k-1"
    Then the answer is "From elsewhere."
    And only the second hosted provider was called, and once
    And the credential of the provider is found with the provider alone

  @G12 @code-no_ready_route
  Scenario: A profile without its credential serves nobody
    Given no hosted provider has its credential
    When the assistant asks a hosted provider "Hello?" under the key "k-1"
    Then the request is refused as "no_ready_route"
    And no hosted provider was called

  Scenario: A credential that comes later counts from a reload on
    Given no hosted provider has its credential
    And the assistant has asked the model "assist" in vain
    When the second hosted provider answers "At last." from a reload on
    And the assistant asks a hosted provider "Hello?" under the key "k-1"
    Then the answer is "At last."
    And only the second hosted provider was called, and once

  @G7
  Scenario: A private tenant gets nothing from a hosted provider, however ready that is
    Given the first hosted provider answers "From afar."
    And in the registry Tenant A is given the hosted model
    And the first hosted provider is ready
    When "tenant-a/advisor" asks the model "assist" under the key "k-1"
    Then the request is refused as "no_route_allowed"
    And no hosted provider was called

  @G5 @G7 @code-outcome_unknown
  Scenario: A provider that points to another host is not followed
    Given the hosted provider points to another host
    And the first hosted provider is ready
    When the assistant asks a hosted provider "Hello?" under the key "k-1"
    Then the request is refused as "outcome_unknown"
    And the operation is "unknown"
    And the reservation is kept
    And only the first hosted provider was called, and once
    And the other host received nothing

  @code-provider_rejected
  Scenario: A provider that refuses the credential has done nothing
    Given the hosted provider refuses the credential
    And the first hosted provider is ready
    When the assistant asks a hosted provider "Hello?" under the key "k-1"
    Then the request is refused as "provider_rejected"
    And the operation is "no_effect"
    And nothing is reserved any more
    And the credential of the provider is found with the provider alone

  @G11
  Scenario: What a provider says in an error reaches nobody
    Given the hosted provider repeats request and credential in an error
    And the first hosted provider is ready
    When the assistant asks a hosted provider "CANARY-P" under the key "CANARY-K"
    Then the request is refused as "outcome_unknown"
    And the words "CANARY-P" and "CANARY-K" are found nowhere
    And the credential of the provider is found with the provider alone
