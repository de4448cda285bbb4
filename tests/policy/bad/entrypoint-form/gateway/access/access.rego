package gateway.access # BAD

import data.gateway.checks
import data.gateway.privacy

# METADATA
# entrypoint: true
answer := { # BAD
	"allow": _allow,
	"privacy_class": _class,
	"failed": {"request": set(), "source": {i: set() | some i, _ in checks.shown.access.source}},
}

default _allow := false

_allow if checks.passed.access

_allow if checks.passed.replay # BAD

default _class := ""

_class := privacy.required if _allow
