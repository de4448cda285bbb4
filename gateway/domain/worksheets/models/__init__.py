"""Models as far as memory needs them: from a config.json or plain numbers to layers and tensors."""
