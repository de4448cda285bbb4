package gateway.request.purpose

default pass := false # BAD

pass := input.purpose in data.registry.tenants[input.tenant].purposes # BAD
