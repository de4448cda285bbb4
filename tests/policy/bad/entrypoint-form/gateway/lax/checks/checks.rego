package gateway.lax.checks

passed contains "operate"

request[question] := set() if some question in {"operate"}
