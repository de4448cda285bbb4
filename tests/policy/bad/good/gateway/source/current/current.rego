package gateway.source.current

pass contains i if {
	input.sources[i].withdrawn == false
	is_number(input.time_s)
	is_number(input.sources[i].released_s)
	input.sources[i].released_s <= input.time_s
}
