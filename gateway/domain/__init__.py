"""Values and rules of the gateway. Pure: no input or output, no clock, no third-party client."""
