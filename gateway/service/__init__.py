"""The use cases. ``pipeline`` is the path of a request; everything else serves it or an operator."""
