package gateway.privacy

required := data.registry.tenants[input.tenant].privacy_class
