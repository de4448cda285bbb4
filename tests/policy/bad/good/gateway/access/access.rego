package gateway.access

import data.gateway.checks
import data.gateway.privacy

# METADATA
# entrypoint: true
answer := {
	"allow": _allow,
	"privacy_class": _class,
	"failed": checks.shown.access,
}

default _allow := false

_allow if checks.passed.access

default _class := ""

_class := privacy.required if _allow
