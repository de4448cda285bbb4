package gateway.source.current

pass contains i if {
	some i, source in input.sources
	not source.withdrawn # BAD
}
