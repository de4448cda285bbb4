"""How to choose between ways to serve a model: a static table, and it decides nothing.

Each row says by what the way could be chosen, and what neither this table nor a worksheet can know.
"""

from gateway.domain.worksheets.sheet import Table

HOW_TO_CHOOSE = Table(
    title="How to choose",
    columns=("Way to serve", "Benefit", "Cost", "Criterion", "Evidence still missing"),
    rows=(
        (
            "Hosted model",
            "No device to buy, fill or repair; you pay for what you use.",
            "A price for every token, request bounds and a quota that somebody else sets, and your text leaves you.",
            "Privacy class and residency allow the provider, and the load is low or uneven.",
            "Answer quality on your own questions, the provider's latency under your load, prices after today.",
        ),
        (
            "Self-hosted model",
            "Text stays with you; weights, engine and revision change only when you change them.",
            "The device costs the same when idle; somebody must run, update and secure the engine.",
            "Memory is within at the context and concurrency you promise, and utilisation is above break-even.",
            "Measured throughput and latency of this engine on this device, an evaluation of the quantised weights, "
            "hours of staff.",
        ),
        (
            "Several providers",
            "One that is down or out of quota does not stop every request.",
            "Each needs its own approval, evaluation, counter, prices and secret; answers differ between them.",
            "Every one of them passed the same evaluation and is allowed for the same privacy class.",
            "How often they fail together, and whether users notice which of them answered.",
        ),
        (
            "One replica per device",
            "Sequences grow with the devices, and one device that fails takes only its own with it.",
            "Every device holds all the weights again; one answer becomes no faster.",
            "The memory worksheet says within on one device.",
            "How evenly requests spread over the replicas, and the measured rate of one of them.",
        ),
        (
            "Sharded over devices",
            "Weights that no single device holds fit, and each device reads fewer of them for a token.",
            "Devices exchange data for every token; all stop when one stops; KV heads below the devices are copied.",
            "One device exceeds even with the fewest sequences that you need, and the devices have a fast link.",
            "The measured cost of the exchange on this link, and the memory that the engine itself reports.",
        ),
    ),
)
