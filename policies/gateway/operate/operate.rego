# METADATA
# title: May this principal administer this?
package gateway.operate

import data.gateway.checks

# METADATA
# title: The answer before anything is administered
# entrypoint: true
answer := {
	"allow": _allow,
	"failed": checks.request.operate,
}

default _allow := false

_allow if checks.passed.operate
