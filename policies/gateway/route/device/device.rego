# METADATA
# title: The privacy class allows how the engine's device is shared
# description: A device that several engines share by time slices keeps traces of each, so strict classes refuse it.
# custom:
#   code: device_shared
#   remedy: Give the engine a device of its own, or use an alias of another bundle.
#   owner: security
package gateway.route.device

pass contains id if {
	is_boolean(_needed.time_sharing_allowed)
	data.registry.profiles[id].sharing == "exclusive"
}

pass contains id if {
	_needed.time_sharing_allowed == true
	data.registry.profiles[id].sharing == "time_shared"
}

_needed := data.registry.requirements[input.privacy_class]
