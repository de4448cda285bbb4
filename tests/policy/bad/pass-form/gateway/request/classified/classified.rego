package gateway.request.classified

pass := "yes" if input.purpose in data.registry.tenants[input.tenant].purposes # BAD
