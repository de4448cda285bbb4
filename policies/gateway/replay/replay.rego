# METADATA
# title: May this principal see this saved answer today?
# description: The question carries the original sources with today's facts. Alias and release play no part.
package gateway.replay

import data.gateway.checks

# METADATA
# title: The answer before anything saved is shown
# entrypoint: true
answer := {
	"allow": _allow,
	"failed": checks.shown.replay,
}

default _allow := false

_allow if checks.passed.replay
