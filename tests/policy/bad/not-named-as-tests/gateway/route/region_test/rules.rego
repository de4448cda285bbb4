package gateway.route.region_test # BAD

pass contains id if data.registry.profiles[id].region in data.registry.tenants[input.tenant].regions
