"""Transport to engines. The front door: ``Transports`` sends dispatches and looks at engines."""

from adapters.transport.transports import Transports

__all__ = ["Transports"]
