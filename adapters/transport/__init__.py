"""Transport to engines. The front door: ``Transports`` sends dispatches and looks at engines.

Before a hosted profile serves, ``load_translations`` and ``not_carried``.
"""

from adapters.transport.hosted import is_hosted
from adapters.transport.hosted_trial import not_carried
from adapters.transport.litellm_translation import NotInstalled
from adapters.transport.litellm_translation import load as load_translations
from adapters.transport.transports import Transports

__all__ = ["NotInstalled", "Transports", "is_hosted", "load_translations", "not_carried"]
