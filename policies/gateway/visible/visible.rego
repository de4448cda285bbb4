# METADATA
# title: Which model aliases does this principal see?
# description: Those of its tenant that are released, to a bundle that has not expired. Whether one serves is told later.
package gateway.visible

import data.gateway.checks

# METADATA
# title: The answer before models are listed
# description: Aliases in alphabetical order, none where a check failed.
# entrypoint: true
answer := {
	"aliases": _aliases,
	"failed": checks.request.visible,
}

default _aliases := []

_aliases := sort(_current) if checks.passed.visible

_current contains alias if {
	some alias in data.registry.tenants[input.tenant].aliases
	expires_s := data.registry.bundles[data.registry.releases[alias]].expires_s
	is_number(expires_s)
	is_number(input.time_s)
	floor(input.time_s) == input.time_s
	expires_s > input.time_s
}
