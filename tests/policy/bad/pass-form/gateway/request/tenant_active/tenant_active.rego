package gateway.request.tenant_active

pass := true # BAD
