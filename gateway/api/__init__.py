"""HTTP: parse strictly, ask the services, answer in OpenAI's shape. Knows no adapter."""
