package gateway.request.operator_active

pass if input.tenant == "system"

pass if input.tenant == "systems" # BAD
