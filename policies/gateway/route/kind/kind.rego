# METADATA
# title: The rules know this kind of profile
# description: Each kind of profile has its own list of checks. Without one, nothing is known to be enough.
# custom:
#   code: profile_kind_unknown
#   remedy: Add the kind to the required checks of the policy first.
#   owner: security
package gateway.route.kind

import data.gateway.checks

pass contains id if count(checks.required.routes[data.registry.profiles[id].kind]) > 0
