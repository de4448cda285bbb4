package gateway.request.alias

pass if input.alias in data.registry.tenants[input.tenant].aliases
