"""The demo: the real parts, and a short story that a person can read and repeat."""
