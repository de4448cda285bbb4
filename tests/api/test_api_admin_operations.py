"""/admin/operations: a list page by page."""

from api_support import Api, Reply, chat_headers


def listed(api: Api, query: str) -> Reply:
    return api.request("GET", f"/admin/operations{query}", chat_headers("operator", key=None))


def test_operations_are_listed_newest_first_page_by_page() -> None:
    api = Api()
    made = [api.ask(key=f"k-{number}").headers["operation-id"] for number in range(3)]
    page = listed(api, "?limit=2").document
    assert ([row["id"] for row in page["data"]], page["has_more"]) == (made[:0:-1], True)
    full = listed(api, "?limit=3").document
    assert ([row["id"] for row in full["data"]], full["has_more"]) == (made[::-1], False)
    assert {(row["tenant"], row["principal"]) for row in full["data"]} == {("acme", "assistant")}
