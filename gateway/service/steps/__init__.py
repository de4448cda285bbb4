"""The steps of the path, a module each. No step imports another; only the pipeline orders them."""
