# METADATA
# title: The engine attests its revision where the privacy class asks for it
# description: Who serves somebody else's engine cannot attest it, so a hosted profile never does.
# custom:
#   code: engine_not_attested
#   remedy: Use an alias whose bundle has an engine that attests the revision it serves.
#   owner: security
package gateway.route.attested

pass contains id if {
	is_boolean(_needed.attestation_required)
	data.registry.profiles[id].attests_revision == true
}

pass contains id if {
	_needed.attestation_required == false
	data.registry.profiles[id].attests_revision == false
}

_needed := data.registry.requirements[input.privacy_class]
