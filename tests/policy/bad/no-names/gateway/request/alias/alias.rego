package gateway.request.alias

pass if input.alias in data.registry.tenants[input.tenant].aliases

pass if input.tenant == "whoever" # BAD

pass if "tenant-a" == input.tenant # BAD

pass if input.alias in {"anything"} # BAD

pass if startswith(input.tenant, "ac") # BAD

pass if input.purpose != "anything" # BAD

pass if _is_special(input.tenant) # BAD

pass if {
	who := input.tenant # BAD
	count(who) > 3
}

pass if {
	some who in [input.tenant] # BAD
	count(who) > 3
}

pass if {
	question := input # BAD
	question.alias == ""
}

# Those of the registry in force.
pass if {
	some tenant, _ in data.registry.tenants
	tenant == "acme" # BAD
	input.tenant == tenant
}

pass if "staff" in input.groups # BAD

_is_special(tenant) if tenant in _special

_special := {
	"acme", # BAD
	"tenant-a", # BAD
}
