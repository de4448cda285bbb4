"""Will it fit? Weights, KV state and reserve against the memory of a device."""
