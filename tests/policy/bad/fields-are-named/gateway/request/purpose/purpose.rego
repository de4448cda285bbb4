package gateway.request.purpose

pass if {
	field := "purpsoe"
	input[field] == "drafting" # BAD
}

pass if {
	some field in ["actvie"]
	data.registry.tenants[input.tenant][field] == true # BAD
}

pass if "purpsoe" in input # BAD

pass if {
	some source in input.sources
	some field, true in source # BAD
	field == "knwon"
}
