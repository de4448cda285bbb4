package gateway_test

import data.gateway
import data.gateway.checks

_source := {
	"known": true, "cited": "3", "revision": "3", "tenant": "a", "groups": ["g"],
	"privacy_class": "internal", "released_s": 1, "withdrawn": false, "as_of_s": 4,
}

_replay := {
	"time_s": 5, "tenant": "a", "groups": ["g"], "roles": ["generate"], "purpose": "answer",
	"sources": [_source, _source],
}

_access := object.union(_replay, {"alias": "chat"})

_routes := {
	"time_s": 5, "tenant": "a", "purpose": "answer", "alias": "chat", "bundle": "chat@1",
	"privacy_class": "private", "features": ["chat"],
}

_visible := {"time_s": 5, "tenant": "a", "roles": ["generate"]}

_operate := {"tenant": "a", "roles": ["operator"], "area": "keys", "deed": "change"}

_own := {
	"kind": "self_hosted", "provider": "house", "region": "eu", "network": "loopback", "retention_days": 0,
	"trains_on_data": false, "capabilities": ["chat"], "prefix_cache": "single_tenant", "sharing": "exclusive",
	"approvals": [{"privacy_class": "private", "until_s": 9}], "attests_revision": true,
	"serves_any_tenant": false, "engine_tenants": ["a"], "needs_credential": false, "credential_tenants": [],
}

_rented := {
	"kind": "hosted", "provider": "cloud", "region": "eu", "network": "public", "retention_days": 0,
	"trains_on_data": false, "capabilities": ["chat"], "prefix_cache": "none", "sharing": "none",
	"approvals": [{"privacy_class": "private", "until_s": 9}], "attests_revision": false,
	"serves_any_tenant": true, "engine_tenants": [], "needs_credential": true, "credential_tenants": ["a"],
}

_requirements := {
	"networks": ["loopback", "public"], "longest_retention_days": 0, "training_allowed": false,
	"time_sharing_allowed": false, "attestation_required": false, "least_score": 0.5, "most_refusals": 0.5,
	"longest_evaluation_days": 1, "longest_facts_s": 1,
}

_registry := {
	"ranks": {"public": 0, "internal": 1, "private": 2},
	"requirements": {"public": _requirements, "internal": _requirements, "private": _requirements},
	"purposes": {
		"answer": {"grounded": true, "privacy_class": "public"},
		"draft": {"grounded": false, "privacy_class": "private"},
	},
	"tenants": {"a": {
		"active": true, "privacy_class": "public", "providers": ["house", "cloud"], "regions": ["eu"],
		"aliases": ["chat"], "purposes": ["answer", "draft"],
	}},
	"bundles": {"chat@1": {
		"privacy_class": "private", "profiles": ["own", "rented"], "purposes": ["answer"], "expires_s": 9,
		"evaluation": {"score": 0.5, "refusal_rate": 0.5, "date_s": 5},
	}},
	"releases": {"chat": "chat@1"},
	"profiles": {"own": _own, "rented": _rented, "elsewhere": _rented},
}

_without(document, path) := json.patch(document, [{"op": "remove", "path": path}])

_with(document, path, value) := json.patch(document, [{"op": "replace", "path": path, "value": value}])

_paths(document) := {path | walk(document, [path, _]); path != []}

_asked(question, registry) := answer if {
	answer := gateway.access.answer with input as question with data.registry as registry
}

_shown(question, registry) := answer if {
	answer := gateway.replay.answer with input as question with data.registry as registry
}

_served(question, registry) := answer if {
	answer := gateway.routes.answer with input as question with data.registry as registry
}

_seen(question, registry) := answer if {
	answer := gateway.visible.answer with input as question with data.registry as registry
}

_administers(question, registry) := answer if {
	answer := gateway.operate.answer with input as question with data.registry as registry
}

_nothing_failed := {"request": set(), "source": {0: set(), 1: set()}}

test_a_grounded_request_is_admitted_under_its_strictest_class if {
	_asked(_access, _registry) == {"allow": true, "privacy_class": "internal", "failed": _nothing_failed}
}

test_a_general_request_is_admitted_without_sources if {
	question := object.union(_access, {"purpose": "draft", "sources": []})
	failed := {"request": set(), "source": {}}
	_asked(question, _registry) == {"allow": true, "privacy_class": "private", "failed": failed}
}

test_a_saved_answer_is_shown if _shown(_replay, _registry) == {"allow": true, "failed": _nothing_failed}

test_the_aliases_of_the_tenant_are_seen if _seen(_visible, _registry) == {"aliases": ["chat"], "failed": set()}

test_an_operator_administers if _administers(_operate, _registry) == {"allow": true, "failed": set()}

test_the_built_in_operator_needs_no_tenant_of_the_registry if {
	_administers(_with(_operate, ["tenant"], "system"), {}) == {"allow": true, "failed": set()}
}

test_profiles_serve_in_the_order_of_the_bundle if {
	_served(_routes, _registry) == {"routes": ["own", "rented"], "failed": {"own": set(), "rented": set()}}
	reversed := _with(_registry, ["bundles", "chat@1", "profiles"], ["rented", "own"])
	_served(_routes, reversed).routes == ["rented", "own"]
}

test_a_bundle_that_does_not_exist_is_served_by_nobody if {
	_served(_with(_routes, ["bundle"], "chat@9"), _registry) == {"routes": [], "failed": {}}
}

# OPA-04: whatever is missing from a question, the answer is no. A whole source less is another question.
test_any_hole_in_a_question_denies if {
	every path in _paths(_access) - _whole_sources {
		answer := _asked(_without(_access, path), _registry)
		[answer.allow, answer.privacy_class] == [false, ""]
	}
	every path in _paths(_replay) - _whole_sources { _shown(_without(_replay, path), _registry).allow == false }
	every path in _paths(_routes) { _served(_without(_routes, path), _registry).routes == [] }
	every path in _paths(_visible) { _seen(_without(_visible, path), _registry).aliases == [] }
	every path in _paths(_operate) { _administers(_without(_operate, path), _registry).allow == false }
}

_whole_sources := {["sources", 0], ["sources", 1]}

# No check of a source judges a request that cites none. A caller who is in no group may make it.
test_any_hole_in_a_general_question_denies if {
	general := {"purpose": "draft", "sources": []}
	asked := object.union(_access, general)
	every path in _paths(asked) - {["groups", 0]} { _asked(_without(asked, path), _registry).allow == false }
	shown := object.union(_replay, general)
	every path in _paths(shown) - {["groups", 0]} { _shown(_without(shown, path), _registry).allow == false }
}

# Exactly what a question does not read may be missing from the registry.
test_any_hole_in_the_registry_denies if {
	harmless := {path | some path in _paths(_registry); _asked(_access, _without(_registry, path)).allow}
	harmless == _unread_by_access
}

test_any_hole_in_the_registry_hides_saved_answers if {
	harmless := {path | some path in _paths(_registry); _shown(_replay, _without(_registry, path)).allow}
	harmless == _unread_by_access | _unread_by_replay
}

test_any_hole_in_the_registry_takes_a_profile_out if {
	harmless := {path |
		some path in _paths(_registry)
		_served(_routes, _without(_registry, path)).routes == ["own", "rented"]
	}
	harmless == _unread_by_routes
}

test_any_hole_in_the_registry_hides_an_alias if {
	harmless := {path |
		some path in _paths(_registry)
		_seen(_visible, _without(_registry, path)).aliases == ["chat"]
	}
	harmless == _paths(_registry) - _read_by_visible
}

test_any_hole_in_the_registry_takes_an_operators_rights if {
	harmful := {path | some path in _paths(_registry); _administers(_operate, _without(_registry, path)).allow == false}
	harmful == {["tenants"], _tenant, array.concat(_tenant, ["active"])}
}

_under(prefix) := {path | some path in _paths(_registry); array.slice(path, 0, count(prefix)) == prefix}

_tenant := ["tenants", "a"]

_unread_by_access := union({
	_under(["profiles"]),
	_under(["bundles"]),
	_under(["releases"]),
	_under(["purposes", "draft"]),
	_under(["requirements"]) - _facts_requirement,
	_under(array.concat(_tenant, ["providers"])),
	_under(array.concat(_tenant, ["regions"])),
	{["ranks", "private"], array.concat(_tenant, ["purposes", 1])},
})

# The time that the source's own class grants.
_facts_requirement := {
	["requirements"],
	["requirements", "internal"],
	["requirements", "internal", "longest_facts_s"],
}

_read_by_visible := {
	["tenants"],
	_tenant,
	array.concat(_tenant, ["active"]),
	array.concat(_tenant, ["aliases"]),
	array.concat(_tenant, ["aliases", 0]),
	["releases"],
	["releases", "chat"],
	["bundles"],
	["bundles", "chat@1"],
	["bundles", "chat@1", "expires_s"],
}

_unread_by_replay := union({
	_under(array.concat(_tenant, ["aliases"])),
	{array.concat(_tenant, ["privacy_class"]), ["ranks", "public"], ["purposes", "answer", "privacy_class"]},
})

_unread_by_routes := union({
	_under(["purposes"]),
	_under(["profiles", "elsewhere"]),
	_under(["requirements", "public"]),
	_under(["requirements", "internal"]),
	_under(array.concat(_tenant, ["aliases"])),
	_under(array.concat(_tenant, ["purposes"])),
	{
		array.concat(_tenant, ["active"]),
		array.concat(_tenant, ["privacy_class"]),
		["ranks", "public"],
		["ranks", "internal"],
		["profiles", "rented", "prefix_cache"],
		["profiles", "rented", "sharing"],
		["profiles", "rented", "engine_tenants"],
		["profiles", "own", "credential_tenants"],
		["requirements", "private", "longest_facts_s"],
	},
})

test_one_forbidden_source_denies if {
	every change in [
		["withdrawn", true],
		["tenant", "b"],
		["groups", []],
		["known", false],
		["cited", "2"],
		["as_of_s", 3],
		["as_of_s", 6],
	] {
		path := ["sources", 1, change[0]]
		_asked(_with(_access, path, change[1]), _registry).allow == false
		_shown(_with(_replay, path, change[1]), _registry).allow == false
	}
}

test_who_may_not_read_a_source_learns_nothing_else_about_it if {
	hidden := object.union(_source, {"tenant": "b", "withdrawn": true, "privacy_class": "", "as_of_s": 0})
	question := _with(_access, ["sources", 1], hidden)
	_asked(question, _registry).failed == {"request": set(), "source": {0: set(), 1: {"readable"}}}
}

test_who_may_read_a_source_is_told_all if {
	question := _with(_access, ["sources", 1], object.union(_source, {"withdrawn": true, "cited": "2", "as_of_s": 0}))
	_asked(question, _registry).failed.source[1] == {"current", "fresh", "revision"}
}

test_a_class_that_nobody_ranks_denies if {
	answer := _asked(_with(_access, ["sources", 1, "privacy_class"], "privat"), _registry)
	[answer.allow, answer.privacy_class, answer.failed.source] == [false, "", {0: set(), 1: {"classified"}}]
}

# The caller is told first that he may not ask at all, and nothing of what he asked for.
test_who_may_not_ask_at_all_is_told_that_alone if {
	hidden := object.union(_source, {"tenant": "b", "withdrawn": true, "privacy_class": "", "as_of_s": 0})
	nothing := object.union(_access, {"purpose": "train", "alias": "code", "sources": [hidden, _source]})
	off := _with(_registry, ["tenants", "a", "active"], false)
	of_sources := {0: set(), 1: set()}
	every roles in [["auditor"], ["generate", "operator"], []] {
		question := _with(nothing, ["roles"], roles)
		failed := {"request": {"role"}, "source": of_sources}
		_asked(question, _registry) == {"allow": false, "privacy_class": "", "failed": failed}
		_shown(question, _registry) == {"allow": false, "failed": failed}
		_asked(question, off).failed == {"request": {"role", "tenant_active"}, "source": of_sources}
	}
	_asked(nothing, off).failed == {"request": {"tenant_active"}, "source": of_sources}
	_asked(_with(nothing, ["tenant"], "b"), _registry).failed.request == {"tenant_active"}
}

test_who_may_not_ask_at_all_sees_no_alias if {
	_seen(_with(_visible, ["roles"], ["auditor"]), _registry) == {"aliases": [], "failed": {"role"}}
	off := _with(_registry, ["tenants", "a", "active"], false)
	_seen(_visible, off) == {"aliases": [], "failed": {"tenant_active"}}
}

test_aliases_are_seen_in_alphabetical_order_while_their_bundle_lasts if {
	tenant := object.union(_registry.tenants.a, {"aliases": ["chat", "assist", "old", "unreleased", "lost", "never"]})
	bundles := object.union(_registry.bundles, {
		"assist@1": {"expires_s": 6},
		"old@1": {"expires_s": 5},
		"never@1": {"expires_s": "never"},
	})
	releases := {
		"chat": "chat@1", "assist": "assist@1", "old": "old@1", "lost": "lost@1", "never": "never@1",
		"of_others": "chat@1",
	}
	registry := object.union(_registry, {"tenants": {"a": tenant}, "bundles": bundles, "releases": releases})
	_seen(_visible, registry).aliases == ["assist", "chat"]
	every time_s in [null, "5", true, 4.5] { _seen(_with(_visible, ["time_s"], time_s), registry).aliases == [] }
}

test_who_is_no_operator_is_told_why if {
	answer := _administers(_with(_operate, ["roles"], ["generate"]), _registry)
	answer == {"allow": false, "failed": {"administers"}}
	off := _with(_registry, ["tenants", "a", "active"], false)
	_administers(_operate, off) == {"allow": false, "failed": {"operator_active"}}
	_administers(_with(_operate, ["roles"], ["auditor"]), off).failed == {"administers", "operator_active"}
}

test_an_auditor_reads_alone if {
	question := _with(_operate, ["roles"], ["auditor"])
	_administers(question, _registry).allow == false
	_administers(_with(question, ["deed"], "read"), _registry).allow == true
}

# "train" is no purpose at all, and "answer" is one of another tenant: both look the same.
test_who_may_not_use_a_purpose_learns_nothing_else_about_it if {
	registry := _with(_registry, ["tenants", "a", "purposes"], ["draft"])
	every purpose in ["train", "answer"] {
		question := object.union(_access, {"purpose": purpose, "sources": []})
		failed := {"request": {"purpose"}, "source": {}}
		_asked(question, registry) == {"allow": false, "privacy_class": "", "failed": failed}
		_shown(question, registry) == {"allow": false, "failed": failed}
	}
}

test_what_does_not_follow_from_the_purpose_is_told_beside_it if {
	question := object.union(_access, {"purpose": "train", "alias": "code"})
	_asked(question, _registry).failed.request == {"alias", "purpose"}
}

test_who_may_use_a_purpose_is_told_all if {
	registry := _with(_registry, ["tenants", "a", "privacy_class"], "privat")
	_asked(_with(_access, ["sources"], []), registry).failed.request == {"classified", "grounded"}
}

test_replay_does_not_ask_for_alias_or_release if {
	every path in [["releases", "chat"], ["bundles", "chat@1"], ["tenants", "a", "aliases"]] {
		_shown(_replay, _without(_registry, path)).allow == true
	}
}

test_a_kind_that_nobody_knows_is_not_served if {
	answer := _served(_routes, _with(_registry, ["profiles", "own", "kind"], "other"))
	[answer.routes, answer.failed.own] == [["rented"], {"kind"}]
}

test_a_profile_that_is_not_in_the_registry_is_not_served if {
	answer := _served(_routes, _without(_registry, ["profiles", "own"]))
	answer.routes == ["rented"]
	"kind" in answer.failed.own
}

# An empty set is truthy, so a request check that was written as a set must not pass by it.
test_a_request_check_passes_by_true_alone if {
	every value in [set(), {}, [], "true", 1, null] {
		answer := gateway.access.answer with input as _access
			with data.registry as _registry
			with data.gateway.request.alias as {"pass": value}
		answer.failed.request == {"alias"}
	}
}

# An answer never depends on `required` having been emptied unnoticed.
test_every_question_requires_something if {
	every question in ["access", "replay"] {
		count(checks.required[question].request) > 0
		count(checks.required[question].source) > 0
	}
	every question in ["operate", "visible"] { count(checks.required[question].request) > 0 }
	every kind in ["hosted", "self_hosted"] { count(checks.required.routes[kind]) > 0 }
}

# Below, each check decides: with its package emptied, the answer is no and names it. A dynamic reference
# cannot stand behind `with`, hence one test per check.
_only_request(answer, check) if {
	answer.allow == false
	answer.failed == {"request": {check}, "source": {0: set(), 1: set()}}
}

_only_source(answer, check) if {
	answer.allow == false
	answer.failed == {"request": set(), "source": {0: {check}, 1: {check}}}
}

_only_visible(answer, check) if answer == {"aliases": [], "failed": {check}}

_only_operate(answer, check) if answer == {"allow": false, "failed": {check}}

test_request_administers_decides if {
	done := gateway.operate.answer with input as _operate
		with data.registry as _registry
		with data.gateway.request.administers as {}
	_only_operate(done, "administers")
}

test_request_alias_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.request.alias as {}
	_only_request(asked, "alias")
}

test_request_classified_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.request.classified as {}
	_only_request(asked, "classified")
}

test_request_grounded_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.request.grounded as {}
	_only_request(asked, "grounded")
	shown := gateway.replay.answer with input as _replay
		with data.registry as _registry
		with data.gateway.request.grounded as {}
	_only_request(shown, "grounded")
}

test_request_operator_active_decides if {
	done := gateway.operate.answer with input as _operate
		with data.registry as _registry
		with data.gateway.request.operator_active as {}
	_only_operate(done, "operator_active")
}

test_request_purpose_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.request.purpose as {}
	_only_request(asked, "purpose")
	shown := gateway.replay.answer with input as _replay
		with data.registry as _registry
		with data.gateway.request.purpose as {}
	_only_request(shown, "purpose")
}

test_request_role_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.request.role as {}
	_only_request(asked, "role")
	shown := gateway.replay.answer with input as _replay
		with data.registry as _registry
		with data.gateway.request.role as {}
	_only_request(shown, "role")
	seen := gateway.visible.answer with input as _visible
		with data.registry as _registry
		with data.gateway.request.role as {}
	_only_visible(seen, "role")
}

test_request_tenant_active_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.request.tenant_active as {}
	_only_request(asked, "tenant_active")
	shown := gateway.replay.answer with input as _replay
		with data.registry as _registry
		with data.gateway.request.tenant_active as {}
	_only_request(shown, "tenant_active")
	seen := gateway.visible.answer with input as _visible
		with data.registry as _registry
		with data.gateway.request.tenant_active as {}
	_only_visible(seen, "tenant_active")
}

test_request_typed_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.request.typed as {}
	_only_request(asked, "typed")
	shown := gateway.replay.answer with input as _replay
		with data.registry as _registry
		with data.gateway.request.typed as {}
	_only_request(shown, "typed")
}

test_source_classified_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.source.classified as {}
	_only_source(asked, "classified")
	shown := gateway.replay.answer with input as _replay
		with data.registry as _registry
		with data.gateway.source.classified as {}
	_only_source(shown, "classified")
}

test_source_current_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.source.current as {}
	_only_source(asked, "current")
	shown := gateway.replay.answer with input as _replay
		with data.registry as _registry
		with data.gateway.source.current as {}
	_only_source(shown, "current")
}

test_source_fresh_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.source.fresh as {}
	_only_source(asked, "fresh")
	shown := gateway.replay.answer with input as _replay
		with data.registry as _registry
		with data.gateway.source.fresh as {}
	_only_source(shown, "fresh")
}

test_source_readable_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.source.readable as {}
	_only_source(asked, "readable")
	shown := gateway.replay.answer with input as _replay
		with data.registry as _registry
		with data.gateway.source.readable as {}
	_only_source(shown, "readable")
}

test_source_revision_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.source.revision as {}
	_only_source(asked, "revision")
	shown := gateway.replay.answer with input as _replay
		with data.registry as _registry
		with data.gateway.source.revision as {}
	_only_source(shown, "revision")
}

test_route_approved_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.approved as {}
	answer == {"routes": [], "failed": {"own": {"approved"}, "rented": {"approved"}}}
}

test_route_attested_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.attested as {}
	answer == {"routes": [], "failed": {"own": {"attested"}, "rented": {"attested"}}}
}

test_route_capable_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.capable as {}
	answer == {"routes": [], "failed": {"own": {"capable"}, "rented": {"capable"}}}
}

test_route_credential_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.credential as {}
	answer == {"routes": [], "failed": {"own": {"credential"}, "rented": {"credential"}}}
}

test_route_data_handling_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.data_handling as {}
	answer == {"routes": [], "failed": {"own": {"data_handling"}, "rented": {"data_handling"}}}
}

test_route_device_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.device as {}
	answer == {"routes": ["rented"], "failed": {"own": {"device"}, "rented": set()}}
}

test_route_evaluated_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.evaluated as {}
	answer == {"routes": [], "failed": {"own": {"evaluated"}, "rented": {"evaluated"}}}
}

test_route_isolated_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.isolated as {}
	answer == {"routes": ["rented"], "failed": {"own": {"isolated"}, "rented": set()}}
}

test_route_kind_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.kind as {}
	answer == {"routes": [], "failed": {"own": {"kind"}, "rented": {"kind"}}}
}

test_route_network_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.network as {}
	answer == {"routes": [], "failed": {"own": {"network"}, "rented": {"network"}}}
}

test_route_privacy_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.privacy as {}
	answer == {"routes": [], "failed": {"own": {"privacy"}, "rented": {"privacy"}}}
}

test_route_provider_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.provider as {}
	answer == {"routes": [], "failed": {"own": {"provider"}, "rented": {"provider"}}}
}

test_route_purpose_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.purpose as {}
	answer == {"routes": [], "failed": {"own": {"purpose"}, "rented": {"purpose"}}}
}

test_route_region_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.region as {}
	answer == {"routes": [], "failed": {"own": {"region"}, "rented": {"region"}}}
}

test_route_released_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.released as {}
	answer == {"routes": [], "failed": {"own": {"released"}, "rented": {"released"}}}
}

test_route_serves_decides if {
	answer := gateway.routes.answer with input as _routes
		with data.registry as _registry
		with data.gateway.route.serves as {}
	answer == {"routes": [], "failed": {"own": {"serves"}, "rented": {"serves"}}}
}
