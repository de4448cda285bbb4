Feature: Policy decides
  Whether a request is admitted, and which approved profiles may serve it, is decided by the policies of the
  repository and by nothing else.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Yes."

  Rule: Without a decision there is no request

    @service @http @G10 @code-policy_unavailable
    Scenario: Policy that cannot be evaluated refuses
      Given policy cannot be evaluated
      When the assistant asks "May I?" under the key "k-1"
      Then the request is refused as "policy_unavailable"
      And no engine is called
      And nothing is reserved

    @service @G10
    Scenario: A route outside the approved bundle is not believed
      Given policy names the profile "elsewhere"
      When the assistant asks "May I?" under the key "k-1"
      Then the request is refused as "policy_unavailable"
      And no engine is called
      And nothing is reserved

  Rule: Who may ask

    @policy @http @code-access_denied @policy-purpose_not_allowed
    Scenario: A purpose that the tenant does not have
      When the assistant asks "May I?" under the key "k-1" for the purpose "training"
      Then the request is refused as "access_denied"
      And the refusal names "purpose_not_allowed"
      And no engine is called
      And nothing is reserved

    @policy @policy-tenant_not_active
    Scenario: A tenant that is not active
      Given in the registry the tenant is not active
      When the assistant asks "May I?" under the key "k-1"
      Then the request is refused as "access_denied"
      And the refusal names "tenant_not_active"
      And no engine is called

    @policy @policy-alias_not_allowed
    Scenario: A model that the tenant may not use
      Given in the registry the tenant may use another model only
      When the assistant asks "May I?" under the key "k-1"
      Then the request is refused as "access_denied"
      And the refusal names "alias_not_allowed"
      And no engine is called

    @policy @policy-sources_do_not_fit_purpose
    Scenario: A grounded purpose without a source
      When the assistant asks "May I?" under the key "k-1" for the purpose "answers"
      Then the request is refused as "access_denied"
      And the refusal names "sources_do_not_fit_purpose"
      And no engine is called

    @policy @http @policy-source_forbidden
    Scenario: A source that nobody knows
      When the assistant asks "May I?" under the key "k-1" citing the source "handbook"
      Then the request is refused as "access_denied"
      And the refusal names "source_forbidden" for the source 0
      And no engine is called

    @service @http @code-unknown_model
    Scenario: A model alias that does not exist
      When the assistant asks the model "gpt-x" under the key "k-1"
      Then the request is refused as "unknown_model"
      And no engine is called
      And nothing is reserved

  Rule: Which profiles may serve

    @policy @http @code-no_route_allowed @policy-profile_not_approved
    Scenario: An expired approval serves nobody
      Given in the registry the approval of the profile has expired
      When the assistant asks "May I?" under the key "k-1"
      Then the request is refused as "no_route_allowed"
      And the refusal names "profile_not_approved"
      And no engine is called

    @policy @policy-bundle_not_released @policy-provider_not_allowed @policy-region_not_allowed
    @policy-privacy_class_too_low @policy-engine_not_isolated @policy-profile_not_for_tenant
    Scenario Outline: A profile that may not serve this tenant
      Given in the registry <change>
      When the assistant asks "May I?" under the key "k-1"
      Then the request is refused as "no_route_allowed"
      And the refusal names "<code>"
      And no engine is called

      Examples:
        | change                                   | code                   |
        | the bundle has expired                   | bundle_not_released    |
        | the tenant may use another provider only | provider_not_allowed   |
        | the tenant may use another region only   | region_not_allowed     |
        | the tenant needs a stricter class        | privacy_class_too_low  |
        | the engine shares its prefix cache       | engine_not_isolated    |
        | the engine belongs to another tenant     | profile_not_for_tenant |
