package gateway.access

# METADATA
# entrypoint: true
answer := {"allow": _allow, "open": _open}

default _allow := "no" # BAD

_allow if input.tenant == "acme"

default _open := true # BAD

_open := false if data.registry.tenants[input.tenant].active == false
