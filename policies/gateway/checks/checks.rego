# METADATA
# title: The checks that each question requires, and those that did not pass
# description: >-
#   The one list of what is required; every folder of checks is named here, and nothing else is. A check
#   has failed unless it is seen to pass: one that is missing, undefined or empty denies.
# custom:
#   owner: security
package gateway.checks

import data.gateway

required := {
	"access": {
		"request": {"alias", "classified", "grounded", "purpose", "role", "tenant_active", "typed"},
		"source": {"classified", "current", "fresh", "readable", "revision"},
	},
	"operate": {"request": {"administers", "operator_active"}},
	"replay": {
		"request": {"grounded", "purpose", "role", "tenant_active", "typed"},
		"source": {"classified", "current", "fresh", "readable", "revision"},
	},
	"routes": {
		"hosted": {
			"approved",
			"attested",
			"capable",
			"credential",
			"data_handling",
			"evaluated",
			"kind",
			"network",
			"privacy",
			"provider",
			"purpose",
			"region",
			"released",
			"serves",
		},
		"self_hosted": {
			"approved",
			"attested",
			"capable",
			"credential",
			"data_handling",
			"device",
			"evaluated",
			"isolated",
			"kind",
			"network",
			"privacy",
			"provider",
			"purpose",
			"region",
			"released",
			"serves",
		},
	},
	"visible": {"request": {"role", "tenant_active"}},
}

# Questions that all required checks of the request and of every cited source passed.
passed contains question if {
	request[question] == set()
	_sources_passed[question]
}

_sources_passed contains question if {
	some question, _ in source
	is_array(input.sources)
	count({i | some i, failed in source[question]; failed == set()}) == count(input.sources)
}

# Nothing is cited in a question that requires nothing of sources.
_sources_passed contains question if {
	some question, needed in required
	object.keys(needed) == {"request"}
}

# Per question: request checks that did not pass.
request[question] := needed - {name | some name in needed; gateway.request[name].pass == true} if {
	needed := required[question].request
}

# Per question and index of a cited source: source checks that did not pass.
source[question] := {i: _failed_by_source(i, needed) | some i, _ in input.sources} if {
	needed := required[question].source
}

# The same as a caller may see it, who is told first what everything else follows from.
shown[question] := {"request": _shown_request[question], "source": _shown_source[question]} if {
	some question, _ in source
	request[question] & _standing == set()
}

# Who may not ask at all is told that alone.
shown[question] := {"request": failed & _standing, "source": {i: set() | some i, _ in judged}} if {
	some question, judged in source
	failed := request[question]
	count(failed & _standing) > 0
}

_standing := {"role", "tenant_active"}

# What a purpose asks for is told to those who may use it.
_shown_request[question] := failed - {name | some name in {"classified", "grounded"}; "purpose" in failed} if {
	failed := request[question]
}

_shown_source[question] := {i: _shown_of_source(names) | some i, names in judged} if some question, judged in source

# Who may not read a source learns nothing else about it.
_shown_of_source(failed) := {"readable"} if "readable" in failed

# How old facts may be, nobody can say for a class that is unknown.
_shown_of_source(failed) := failed - {name | some name in {"fresh"}; "classified" in failed} if {
	failed - {"readable"} == failed
}

# Per profile of the bundle: route checks that did not pass.
route[id] := needed - {name | some name in needed; gateway.route[name].pass[id] == id} if {
	some id in candidates
	needed := object.get(required.routes, object.get(_kinds, id, ""), _every_route_check)
}

candidates := data.registry.bundles[input.bundle].profiles

_failed_by_source(i, needed) := needed - {name | some name in needed; gateway.source[name].pass[i] == i}

_kinds[id] := data.registry.profiles[id].kind if some id in candidates

# What a profile of an unknown kind would have to pass; `kind` is among it, and that it does not.
_every_route_check := union({names | some names in required.routes})
