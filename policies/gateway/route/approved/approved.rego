# METADATA
# title: The profile holds a current approval for the privacy class
# description: One approval has to be both strict enough and unexpired. It ends at its instant, exclusive.
# custom:
#   code: profile_not_approved
#   remedy: Renew the profile's approval in the registry, or use an alias of another bundle.
#   owner: security
package gateway.route.approved

import data.gateway.privacy

pass contains id if {
	is_number(input.time_s)
	some approval in data.registry.profiles[id].approvals
	approval.privacy_class in privacy.sufficient
	is_number(approval.until_s)
	approval.until_s > input.time_s
}
