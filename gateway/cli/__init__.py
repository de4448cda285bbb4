"""The command line: serve, check, and a client of the admin routes."""
