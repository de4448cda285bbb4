# METADATA
# title: A grounded purpose cites its sources, a general one cites none
# description: >-
#   A saved answer is shown again only while all of its sources may be read. That needs to know them, and a
#   general prompt has none to know.
# custom:
#   code: sources_do_not_fit_purpose
#   remedy: Cite the sources of the prompt under a grounded purpose, or none under a general one.
#   owner: security
package gateway.request.grounded

pass if {
	data.registry.purposes[input.purpose].grounded == true
	is_array(input.sources)
	count(input.sources) > 0
}

pass if {
	data.registry.purposes[input.purpose].grounded == false
	input.sources == []
}
