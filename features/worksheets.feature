Feature: Worksheets
  Will a model fit, how long will an answer take, what will it cost. Arithmetic over what somebody entered, shown with
  what it rests on; it promises nothing.

  @cli @http
  Rule: Memory is a sum, compared with what was entered

    Background:
      Given a model of 8 billion parameters in 32 layers with 8 KV heads of 128
      And a reserve of 4 GiB

    @acceptance @acceptance-memory_arithmetic
    Scenario Outline: Weights, KV state and reserve against the memory of a device
      When <sequences> sequences of <tokens> tokens are planned on <device> GiB with <bits>-bit weights
      Then a cached token takes 128 KiB
      And weights of <weights> GiB and KV state of <kv> GiB make <total> GiB with the reserve
      And that <verdict> the memory of the device

      Examples:
        | sequences | tokens | device | bits | weights | kv   | total | verdict   |
        | 8         | 4096   | 24     | 16   | 14.90   | 4.00 | 22.90 | is within |
        | 8         | 8192   | 24     | 16   | 14.90   | 8.00 | 26.90 | exceeds   |
        | 8         | 4096   | 24     | 4    | 3.73    | 4.00 | 11.73 | is within |
        | 8         | 4096   | 16     | 16   | 14.90   | 4.00 | 22.90 | exceeds   |
        | 1         | 4096   | 24     | 16   | 14.90   | 0.50 | 19.40 | is within |

    Scenario: Quantising the weights leaves the KV state as it is
      When 8 sequences of 4096 tokens are planned on 24 GiB with 16-bit weights
      And 8 sequences of 4096 tokens are planned on 24 GiB with 4-bit weights
      Then only the weights have become smaller

    Scenario: A sum that is within promises nothing more
      When 8 sequences of 4096 tokens are planned on 24 GiB with 16-bit weights
      Then that is within the memory of the device
      And it says "no speed"
      And it says "no quality"
      And it says "no promise that an allocation succeeds"
      And no number of it is without a basis

    Scenario: The longest context that fits is followed by one that does not
      When 8 sequences of 4096 tokens are planned on 24 GiB with 16-bit weights
      And as many tokens are planned as fit, and 0 more
      Then that is within the memory of the device
      When as many tokens are planned as fit, and 1 more
      Then that exceeds the memory of the device

  @cli @http
  Rule: What cannot be computed is refused by name

    Scenario Outline: An entry that is none names its field
      When its memory is planned with "<text>" as the <field>
      Then nothing is computed, because of the <field>

      Examples:
        | text     | field                |
        | 0        | memory of the device |
        | NaN      | memory of the device |
        | 1e99     | memory of the device |
        | twenty   | memory of the device |
        | 1.5      | sequences            |
        | -1       | reserve              |

    Scenario: Everything that is wrong is told at once
      When its memory is planned with "none" as the sequences and "-1" as the reserve
      Then nothing is computed, because of the sequences and the reserve

    Scenario: A layout that is not modelled is refused, and not guessed
      Given a model whose config says that it is "mamba"
      When its memory is planned
      Then nothing is computed, because of the architecture
      And the sentence names "mamba"

    Scenario: A config that lacks what is needed is refused
      Given a model whose config does not say "num_hidden_layers"
      When its memory is planned
      Then nothing is computed, because of the architecture
      And the sentence names "num_hidden_layers"

  @cli @http
  Rule: The time that counts is that of the saved answer

    Background:
      Given 0.3 s pass before the engine begins, half of them in its queue
      And the engine reads for 0.2 s and writes 300 tokens of 0.03 s

    Scenario: An early first token does not make an answer in time
      When its time is compared with 5 s for the saved answer
      Then the first token can be there after 0.5 s, and the saved answer after 9.5 s
      And that misses what was asked for

    Scenario: The saved answer is in time at the last instant
      When its time is compared with 9.5 s for the saved answer
      Then that meets what was asked for

  @cli @http
  Rule: A cost is a quotient, and no advice

    Background:
      Given a device that costs 10 EUR an hour and serves 20 requests a second when busy

    Scenario: Half of the device's time is paid for and idle
      When its cost is planned at a utilisation of 0.5
      Then a request costs 0.000278 EUR
      And nothing says what to buy
      And "Staff" is told to be left out
      And "Quality" is told to be left out

    Scenario: A device that serves nobody has no cost per request
      When its cost is planned at a utilisation of 0
      Then what a request costs is undefined, because "utilisation is zero"
