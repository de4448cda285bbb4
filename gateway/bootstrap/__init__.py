"""The one place that knows every adapter. Its modules are imported one by one, for they are heavy."""
