package gateway.source.readable

# Each of these is misspelt, and OPA is content.
pass contains i if {
	some i, source in input.sources
	object.get(source, "withdrwan", false) == false # BAD
}

pass contains i if {
	some i, source in array.concat(input.sources, []) # BAD
	source.knwon == true
}

pass contains i if {
	some i, _ in input.sources
	object.union(_tenant, {"active": true}).actvie # BAD
}

_tenant := data.registry.tenants[input.tenant]
