"""``python -m gateway.testkit.faults``: strike a real gateway, and check what is left (docs/faults.md)."""
