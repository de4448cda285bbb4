"""What will it cost? Hosted and self-hosted, per request, and where both are equal."""
