Feature: Budgets
  What a request may take is set aside before anything is sent, in every account that it counts against. What it turns
  out not to have taken is given back; what is not known stays set aside.

  Background:
    Given the service account "assistant" of the tenant "acme"
    And the engine answers "Yes."

  @service @http
  Rule: What does not fit is refused before anything is sent

    @G9 @code-budget_exhausted
    @acceptance @acceptance-quota_before_transport
    Scenario: A budget that is used up
      Given in the registry the tenant has a budget for one request
      And the engine does not say what it used
      And the assistant has asked "Is it?" under the key "k-1"
      When the assistant asks "Is it?" under the key "k-2"
      Then the request is refused as "budget_exhausted"
      And it is the "tokens_per_month" of the "tenant" that is short
      And it says when to try again
      And the engine was called once

    Scenario: What was not used is given back
      Given in the registry the tenant has a budget for one request
      And the assistant has asked "Is it?" under the key "k-1"
      When the assistant asks "Is it?" under the key "k-2"
      Then the answer is "Yes."
      And nothing is reserved any more

    Scenario: A limit of nothing lets nothing through
      Given in the registry the tenant may use nothing
      When the assistant asks "Is it?" under the key "k-1"
      Then the request is refused as "budget_exhausted"
      And it says that no waiting helps
      And no engine is called
      And nothing is reserved

    Scenario: A budget in money
      Given in the registry the tenant may spend a hundredth a month
      And the engine does not say what it used
      And the assistant has asked "Is it?" under the key "k-1"
      When the assistant asks "Is it?" under the key "k-2"
      Then the request is refused as "budget_exhausted"
      And it is the "cost_per_month" of the "tenant" that is short
      And the engine was called once

    @code-concurrency_exhausted
    Scenario: More calls at once than are allowed
      Given in the registry the tenant may have one call at once
      And the engine is slow
      And the assistant is waiting for an answer to "Is it?" under the key "k-1"
      When the assistant asks "Is it?" under the key "k-2"
      Then the request is refused as "concurrency_exhausted"
      And it is the "concurrency" of the "tenant" that is short
      And it says when to try again
      And the engine was called once

    Scenario: What the caller leaves open is reserved at the most that it may be, and no more
      Given in the registry the tenant has a budget for two requests
      And the engine does not say what it used
      When 2 instances of the assistant ask at once, each under a key of its own
      Then 2 of them got the answer
      And the engine was told each time to stop at 256 tokens

  @service @http
  Rule: Every account has room, or none is touched

    Scenario: A budget that is refused in one account is not taken from another
      Given in the registry the tenant has a budget for one request
      And in the registry the quota scope has no budget
      When the assistant asks "Is it?" under the key "k-1"
      Then the request is refused as "budget_exhausted"
      And it is the "tokens_per_month" of the "quota_scope" that is short
      And no engine is called
      And nothing is reserved

    Scenario: A refused request has not used up its key
      Given in the registry the tenant has a budget for one request
      And in the registry the quota scope has no budget
      And the assistant has asked "Is it?" under the key "k-1"
      And since then the quota scope is given a budget
      When the assistant asks "Is it?" under the key "k-1"
      Then the answer is "Yes."
      And the engine was called once

  @service @http
  Rule: Races and failures never exceed a budget

    @G9
    Scenario: Sixty-four at once on a budget for seven
      Given in the registry the tenant has a budget for seven requests
      And the engine does not say what it used
      When 64 instances of the assistant ask at once, each under a key of its own
      Then 7 of them got the answer
      And 57 of them were refused as "budget_exhausted"
      And the engine was called 7 times
      And nothing is reserved any more

    @G5 @G9
    Scenario: Timeouts keep what they may have used
      Given in the registry the tenant has a budget for seven requests
      And the engine takes longer than it may
      When 16 instances of the assistant ask at once, each under a key of its own
      Then 7 of them were refused as "outcome_unknown"
      And 9 of them were refused as "budget_exhausted"
      And the engine was called 7 times
      And what was reserved for 7 requests is kept

    Scenario: A lowered limit refuses new work and breaks nothing
      Given in the registry the tenant has a budget for two requests
      And the engine does not say what it used
      And the assistant has asked "Is it?" under the key "k-1"
      And since then the budget of the tenant is lowered to less than one request
      When the assistant asks "Is it?" under the key "k-2"
      Then the request is refused as "budget_exhausted"
      And all that was booked is still booked
      And the engine was called once

    Scenario: A debt lowers what is left
      Given in the registry the tenant has a budget for two requests
      And the engine says that it used 300 tokens of input and 300 of output
      And the assistant has asked "Is it?" under the key "k-1"
      When the assistant asks "Is it?" under the key "k-2"
      Then the request is refused as "budget_exhausted"
      And it says when to try again
      And the engine was called once

  @service
  Rule: What was reserved in a window is settled in that window

    @G9
    Scenario: A month that turns during a call
      Given in the registry the tenant has a budget for one request
      And the engine does not say what it used
      And the engine is slow
      And the assistant is waiting for an answer to "Is it?" under the key "k-1"
      When the month turns before the answer arrives
      And the assistant asks "Is it?" under the key "k-2"
      Then the answer is "Yes."
      When the assistant asks "Is it?" under the key "k-3"
      Then the request is refused as "budget_exhausted"
      And it is the "tokens_per_month" of the "tenant" that is short
      And the engine was called 2 times

  @service @http
  Rule: A slot whose call may still be running is not given to another

    Background:
      Given in the registry the profile has one slot
      And the engine drops the connection after reading the request
      And the assistant has asked "Is it?" under the key "k-1"
      And the engine answers "Yes."

    @code-stranded
    Scenario: A profile whose slots are all stranded serves nobody
      When the assistant asks "Is it?" under the key "k-2"
      Then the request is refused as "stranded"
      And the engine was called once
      And the reservation is kept

    Scenario: An operator who frees the slot lets others through
      Given an operator has freed its slot because "the engine was restarted"
      When the assistant asks "Is it?" under the key "k-2"
      Then the answer is "Yes."

  @http
  Rule: The route is chosen once, before budgets

    Scenario: A short budget is no reason to take the next engine
      Given a spare engine is approved for the same model
      And in the registry the profile may use nothing
      When the assistant asks "Is it?" under the key "k-1"
      Then the request is refused as "budget_exhausted"
      And it is the "tokens_per_day" of the "profile" that is short
      And no engine is called
      And the spare engine stays idle

  @http
  Rule: Administrators see what is left

    Scenario: What a budget has used stands beside its limit
      Given in the registry the tenant has a budget for seven requests
      And the assistant has asked "Is it?" under the key "k-1"
      When "platform/audit" looks at the budget of the tenant "acme"
      Then it shows 23 of 2200 tokens a month, and nothing held

    Scenario: What is not known is shown as held and stranded
      Given in the registry the tenant has a budget for seven requests
      And the engine drops the connection after reading the request
      And the assistant has asked "Is it?" under the key "k-1"
      When "platform/audit" looks at the budget of the tenant "acme"
      Then it shows 306 of 2200 tokens a month, and 306 held by 1 stranded slot

    Scenario: What was spent is counted by what came of it
      Given the assistant has asked "Is it?" under the key "k-1"
      And the engine drops the connection after reading the request
      And the assistant has asked "Is it?" under the key "k-2"
      When "platform/audit" counts what the attempts of the tenant "acme" came to
      Then 1 attempt is "completed" and used 23 tokens
      And 1 attempt is "unknown" and counts with the 306 tokens that are reserved
      And no other attempt is counted
