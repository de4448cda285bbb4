package gateway.access

import data.gateway.checks

# METADATA
# entrypoint: true
answer := {"allow": _allow}

default _allow := false

_allow if {
	checks.request == set()
	count({i | some i, failed in checks.source; failed == set()}) == count(input.sources) # BAD
}
