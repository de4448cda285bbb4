"""Generated bodies against a gateway with real policy, store and transport (``make fuzz``)."""
