package gateway.privacy_test

import data.gateway.privacy

_registry := {
	"ranks": {"public": 0, "internal": 1, "private": 2},
	"tenants": {"a": {"privacy_class": "public"}, "strict": {"privacy_class": "private"}, "bare": {}},
	"purposes": {"draft": {"privacy_class": "public"}, "answer": {"privacy_class": "internal"}, "bare": {}},
}

_required(tenant, purpose, classes) := class if {
	sources := [{"privacy_class": class} | some class in classes]
	class := privacy.required with data.registry as _registry
		with input as {"tenant": tenant, "purpose": purpose, "sources": sources}
}

test_the_strictest_class_counts if {
	_required("a", "draft", []) == "public"
	_required("a", "answer", []) == "internal"
	_required("strict", "draft", []) == "private"
	_required("a", "draft", ["public", "private", "internal"]) == "private"
	_required("a", "answer", ["public"]) == "internal"
}

test_an_unknown_class_is_never_skipped if {
	not _required("a", "answer", ["privat"])
	not _required("strict", "answer", ["public", "privat"])
	not _required("a", "draft", [""])
}

test_a_rank_that_is_no_number_covers_nothing_and_is_not_covered if {
	every rank in [null, "1", true, {}] {
		not privacy.required with data.registry as _registry
			with data.registry.ranks.internal as rank
			with input as {"tenant": "a", "purpose": "answer", "sources": []}
	}
}

_sufficient(class, ranks) := classes if {
	classes := privacy.sufficient with input as {"privacy_class": class} with data.registry.ranks as ranks
}

test_the_class_and_all_stricter_ones_suffice if {
	_sufficient("public", _registry.ranks) == {"public", "internal", "private"}
	_sufficient("private", _registry.ranks) == {"private"}
}

test_nothing_suffices_for_an_unknown_class if _sufficient("privat", _registry.ranks) == set()

test_ranks_are_numbers if {
	_sufficient("low", {"low": null, "high": 1}) == set()
	_sufficient("low", {"low": 0, "high": "1"}) == {"low"}
}
