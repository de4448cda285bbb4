"""``python -m gateway.bench``: what the gateway itself costs, beside a bare pass-through in the same run."""
