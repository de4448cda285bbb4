# METADATA
# title: Which profiles of the bundle may serve, best first?
package gateway.routes

import data.gateway.checks

# METADATA
# title: The answer before a route is chosen
# description: Profiles that passed every check in the bundle's order, and for each profile what it failed.
# entrypoint: true
answer := {
	"routes": [id | some id in checks.candidates; checks.route[id] == set()],
	"failed": {id: checks.route[id] | some id in checks.candidates},
}
