"""The OpenAPI document as a judge of answers, with every shape closed."""

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

HERE = "urn:document"


class Judge:
    """Says what of an answer the document does not tell."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = _closed(document)
        self._registry: Registry[Any] = Registry().with_resource(HERE, Resource(self._document, DRAFT202012))

    def faults(self, method: str, path: str, status: int, headers: Mapping[str, str], answer: Any) -> Iterator[str]:
        """
        :param path: as the document has it, such as /v1/models/{model}.
        :param headers: names in lower case.
        """
        responses = self._document["paths"].get(path, {}).get(method.lower(), {}).get("responses", {})
        if str(status) not in responses:
            yield f"{method} {path} has no {status}"
            return
        response = responses[str(status)]
        told = headers["content-type"].partition(";")[0]
        if told not in response["content"]:
            yield f"{method} {path} {status} has no {told}"
            return
        pointer = "/".join(
            part.replace("~", "~0").replace("/", "~1")
            for part in ("paths", path, method.lower(), "responses", str(status), "content", told, "schema")
        )
        validator = Draft202012Validator({"$ref": f"{HERE}#/{pointer}"}, registry=self._registry)
        yield from (f"{error.json_path}: {error.message}" for error in validator.iter_errors(answer))
        for name, header in response.get("headers", {}).items():
            if header.get("required") and name.lower() not in headers:
                yield f"{name} is missing"


def _closed(part: Any) -> Any:
    """The same with no room for a field that is not told. Refusals are joined with ``allOf``, hence unevaluated."""
    if isinstance(part, list):
        return [_closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    found = {name: _closed(item) for name, item in part.items()}
    if part.get("type") == "object" and "properties" in part and "title" in part:
        found["unevaluatedProperties"] = False
    return found
