package gateway.operate # BAD

import data.gateway.lax.checks

# METADATA
# entrypoint: true
answer := {
	"allow": _allow,
	"failed": checks.request.operate,
}

default _allow := false

_allow if checks.passed.operate
