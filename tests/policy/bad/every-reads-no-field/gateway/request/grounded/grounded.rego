package gateway.request.grounded

import data.registry.tenants

# True without sources; and the field is misspelt, but OPA is content.
pass if {
	every source in input.sources {
		source.knwon == true # BAD
	}
}

pass if {
	every group in input.groups {
		group in input.roles # BAD
		group in tenants[input.tenant].aliases # BAD
	}
}
