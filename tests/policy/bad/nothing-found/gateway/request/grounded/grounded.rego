package gateway.request.grounded

# Of sources that lack the field none is found.
pass if count([i | input.sources[i].withdrawn == true]) == 0 # BAD

pass if {i | input.sources[i].withdrawn == true} == set() # BAD

pass if {
	withdrawn := [i | input.sources[i].withdrawn == true]
	[] == withdrawn # BAD
}

pass if {
	withdrawn := {i | input.sources[i].withdrawn == true}
	found := count(withdrawn)
	found < 1 # BAD
}
