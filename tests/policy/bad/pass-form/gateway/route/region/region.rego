package gateway.route.region # BAD

passes contains id if data.registry.profiles[id].region in data.registry.tenants[input.tenant].regions
