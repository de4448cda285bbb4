package gateway.access

import data.gateway.checks

# METADATA
# entrypoint: true
answer := {"allow": _allow}

default _allow := false

_allow if {
	checks.request == set() with input.alias as "chat" # BAD
}
