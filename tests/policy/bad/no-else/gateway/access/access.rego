package gateway.access

# METADATA
# entrypoint: true
answer := {"allow": _allow}

_allow := false if {
	data.registry.tenants[input.tenant].active == false
}

else := true # BAD
