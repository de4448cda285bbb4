"""What the gateway needs from outside, said in its own words. Adapters implement it; fakes too."""
