"""How long will it take? Parts of an answer's time, and floors that no engine can be under."""
