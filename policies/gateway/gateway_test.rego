package gateway_test

import data.gateway
import data.gateway.checks

_source := {
	"known": true, "cited": "3", "revision": "3", "tenant": "a", "groups": ["g"],
	"privacy_class": "internal", "released_s": 1, "withdrawn": false,
}

_replay := {"time_s": 5, "tenant": "a", "groups": ["g"], "purpose": "answer", "sources": [_source, _source]}

_access := object.union(_replay, {"alias": "chat"})

_routes := {"time_s": 5, "tenant": "a", "alias": "chat", "bundle": "chat@1", "privacy_class": "private"}

_own := {
	"kind": "self_hosted", "provider": "house", "region": "eu", "prefix_cache": "single_tenant",
	"approvals": [{"privacy_class": "private", "until_s": 9}],
	"engine_tenants": ["a"], "needs_credential": false, "credential_tenants": [],
}

_rented := {
	"kind": "hosted", "provider": "cloud", "region": "eu", "prefix_cache": "none",
	"approvals": [{"privacy_class": "private", "until_s": 9}],
	"engine_tenants": [], "needs_credential": true, "credential_tenants": ["a"],
}

_registry := {
	"ranks": {"public": 0, "internal": 1, "private": 2},
	"purposes": {
		"answer": {"grounded": true, "privacy_class": "public"},
		"draft": {"grounded": false, "privacy_class": "private"},
	},
	"tenants": {"a": {
		"active": true, "privacy_class": "public", "providers": ["house", "cloud"], "regions": ["eu"],
		"aliases": ["chat"], "purposes": ["answer", "draft"],
	}},
	"bundles": {"chat@1": {"privacy_class": "private", "profiles": ["own", "rented"], "expires_s": 9}},
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
}

_whole_sources := {["sources", 0], ["sources", 1]}

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

_under(prefix) := {path | some path in _paths(_registry); array.slice(path, 0, count(prefix)) == prefix}

_tenant := ["tenants", "a"]

_unread_by_access := union({
	_under(["profiles"]),
	_under(["bundles"]),
	_under(["releases"]),
	_under(["purposes", "draft"]),
	_under(array.concat(_tenant, ["providers"])),
	_under(array.concat(_tenant, ["regions"])),
	{["ranks", "private"], array.concat(_tenant, ["purposes", 1])},
})

_unread_by_replay := union({
	_under(array.concat(_tenant, ["aliases"])),
	{array.concat(_tenant, ["privacy_class"]), ["ranks", "public"], ["purposes", "answer", "privacy_class"]},
})

_unread_by_routes := union({
	_under(["purposes"]),
	_under(["profiles", "elsewhere"]),
	_under(array.concat(_tenant, ["aliases"])),
	_under(array.concat(_tenant, ["purposes"])),
	{
		array.concat(_tenant, ["active"]),
		array.concat(_tenant, ["privacy_class"]),
		["ranks", "public"],
		["ranks", "internal"],
		["profiles", "rented", "prefix_cache"],
		["profiles", "rented", "needs_credential"],
		["profiles", "own", "credential_tenants"],
	},
})

test_one_forbidden_source_denies if {
	every change in [["withdrawn", true], ["tenant", "b"], ["groups", []], ["known", false], ["cited", "2"]] {
		path := ["sources", 1, change[0]]
		_asked(_with(_access, path, change[1]), _registry).allow == false
		_shown(_with(_replay, path, change[1]), _registry).allow == false
	}
}

test_who_may_not_read_a_source_learns_nothing_else_about_it if {
	hidden := object.union(_source, {"tenant": "b", "withdrawn": true, "privacy_class": "", "known": false})
	question := _with(_access, ["sources", 1], hidden)
	_asked(question, _registry).failed == {"request": set(), "source": {0: set(), 1: {"readable"}}}
}

test_who_may_read_a_source_is_told_all if {
	question := _with(_access, ["sources", 1], object.union(_source, {"withdrawn": true, "cited": "2"}))
	_asked(question, _registry).failed.source[1] == {"current", "revision"}
}

test_a_class_that_nobody_ranks_denies if {
	answer := _asked(_with(_access, ["sources", 1, "privacy_class"], "privat"), _registry)
	[answer.allow, answer.privacy_class, answer.failed.source] == [false, "", {0: set(), 1: {"classified"}}]
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
	registry := _with(_registry, ["tenants", "a", "active"], false)
	_asked(question, registry).failed.request == {"alias", "purpose", "tenant_active"}
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

test_request_tenant_active_decides if {
	asked := gateway.access.answer with input as _access
		with data.registry as _registry
		with data.gateway.request.tenant_active as {}
	_only_request(asked, "tenant_active")
	shown := gateway.replay.answer with input as _replay
		with data.registry as _registry
		with data.gateway.request.tenant_active as {}
	_only_request(shown, "tenant_active")
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
