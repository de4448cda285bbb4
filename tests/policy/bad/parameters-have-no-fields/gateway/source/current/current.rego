package gateway.source.current

pass contains i if {
	some i, source in input.sources
	_current(source)
	_public(source)
}

# Each of these is misspelt, and OPA is content.
_current(source) if source.withdrwan == false # BAD

_public(source) if {
	cited := source
	cited.privacy_clas == "public" # BAD
}

_open(sources) if {
	some source in sources
	source.knwon == true # BAD
}

_named(id) := data.registry.profiles[id].kind
