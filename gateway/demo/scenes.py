"""What the story shows: the code that a service runs and the commands that an operator types."""

FIRST = """
from openai import OpenAI, APIStatusError

client = OpenAI(max_retries=0)  # reads OPENAI_BASE_URL and OPENAI_API_KEY, as ever

def ask(key, model="chat", service=client, **changes):
    return service.chat.completions.with_raw_response.create(
        model=model,
        messages=[{"role": "user", "content": "Say in one sentence what a lighthouse does."}],
        extra_headers={"Idempotency-Key": key},
        **({"max_tokens": 40, "temperature": 0, "seed": 7} | changes),
    )

answer = ask("order-4711")
print(answer.parse().choices[0].message.content)
print("operation", answer.headers["Operation-Id"], answer.headers["Operation-State"])
"""
AGAIN = """
again = ask("order-4711")
print("the same bytes:", again.content == answer.content)
print("operation", again.headers["Operation-Id"], "replayed:", again.headers["Idempotent-Replayed"])
"""
CONFLICT = """
def refused(*key, **changes):
    try:
        ask(*key, **changes)
    except APIStatusError as error:
        return error.response

problem = refused("order-4711", temperature=1)
print(problem.status_code, problem.json()["code"], problem.json()["fields"])
print(problem.json()["title"], problem.json()["remedy"])
"""
INSPECT = """
operation = client.get("/operations/" + answer.headers["Operation-Id"], cast_to=dict)
print(operation["state"], "by", operation["attempt"]["profile"], "of", operation["bundle"])
print("reserved", operation["attempt"]["reserved"], "used", operation["attempt"]["used"])
print("calls that reached an engine:", operation["attempts_dispatched"])
"""
BOUNDS = """
long = refused("order-4712", max_tokens=4000)
print(long.status_code, long.json()["code"], long.json()["facts"])
print(long.json()["title"], long.json()["remedy"])
"""
PRIVATE = """
import os

advisor = OpenAI(api_key=os.environ["TENANT_A_KEY"], max_retries=0)
private = refused("order-4713", model="assist", service=advisor)
print(private.status_code, private.json()["code"])
for check in private.json()["policy_codes"]:
    print("-", check["code"] + ":", check["remedy"])
"""
CITED = """
cited = {"gateway": {"purpose": "answers", "sources": [{"id": "handbook", "revision": "3"}]}}
made = ask("order-4714", extra_body=cited)
print(made.parse().choices[0].message.content)
print("the same bytes again:", ask("order-4714", extra_body=cited).content == made.content)
"""
REVOKED = """
closed = refused("order-4714", extra_body=cited)
print(closed.status_code, closed.json()["code"])
print(closed.json()["title"], closed.json()["remedy"])
"""
GRANTED_AGAIN = """
print("the same bytes again:", ask("order-4714", extra_body=cited).content == made.content)
"""
HANG = """
lost = refused("order-4715", model="unreliable")
print(lost.status_code, lost.json()["code"], "operation", lost.headers["Operation-Id"])
print(lost.json()["title"], lost.json()["remedy"])

again = refused("order-4715", model="unreliable")
print(again.status_code, again.json()["code"], "and no second call")
"""
BUDGET = """
short = refused("order-4716", model="unreliable")
print(short.status_code, short.json()["code"], short.json()["facts"], "Retry-After:", short.headers["Retry-After"])
print(short.json()["title"], short.json()["remedy"])
"""
CRASH = """
import threading
from openai import APIConnectionError

seen = []

def ask_and_lose():
    try:
        ask("order-4717", model="unreliable")
    except APIConnectionError:
        seen.append("the service saw its connection break")

caller = threading.Thread(target=ask_and_lose)
caller.start()
"""
AFTER_CRASH = """
caller.join()
print(*seen)
after = refused("order-4717", model="unreliable")
print(after.status_code, after.json()["code"], "operation", after.headers["Operation-Id"])
"""
