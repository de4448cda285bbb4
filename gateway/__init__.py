"""The policy gateway: one durable operation per generation, dispatched at most once."""
