"""Broken registries as data: one edit each, and the one fault that it must cause."""

from typing import NamedTuple

from registry_examples import BUNDLE

from gateway.testkit.registry_copy import EXAMPLE, Edit

ACME = "tenants/acme.yaml"
PLATFORM = "tenants/platform.yaml"
SMOL = "profiles/smollm2-135m.yaml"
HOSTED = "profiles/hosted-small.yaml"
CHAT = "bundles/chat@1.yaml"
MAIL = "bundles/mail@2.yaml"
KEY = "credentials/example-key.yaml"
SYSTEM = (EXAMPLE / ACME).read_text().replace("id: acme\n", "id: system\n")
ONE_APPROVAL = BUNDLE.replace("  - by: Robin Reyes\n    date: 2026-11-30\n    digest: sha256:" + "0" * 64 + "\n", "")
DOTTED = "https://192.168.0.1.nip.io/v1"
LOCAL = "endpoint: http://127.0.0.1:8091/v1\nnetwork: loopback"


def at(endpoint: str, network: str = "private") -> str:
    """Instead of LOCAL."""
    return f"endpoint: {endpoint}\nnetwork: {network}"


class Broken(NamedTuple):
    """An edit to the full registry, and the fault."""

    title: str
    file: str
    old: str
    new: str
    path: str
    sentence: str
    remedy: str
    at: str = ""
    """A text in the line that the fault names: by default the first of ``new``; "-": the fault is in no line."""
    faulty: str = ""
    """The file with the fault, where it is another one."""
    approve: bool = True

    @property
    def edit(self) -> Edit:
        return Edit(self.file, self.old, self.new)


BROKEN = [
    # Shape
    Broken("misspelt key", SMOL, "max_output: 256", "max_output: 256\nmax_outptu: 256", "/max_outptu", "not known",
           "nearest known key is max_output", "max_outptu"),
    Broken("missing key", ACME, "title: Acme, the example\n", "", "", "key title is missing", "Add it", "id: acme"),
    Broken("word for a limit", ACME, "  concurrency: unlimited", "  concurrency: lots", "/limits/concurrency",
           "none of the forms", "a whole number or unlimited"),
    Broken("limit below nothing", ACME, "  concurrency: unlimited", "  concurrency: -1", "/limits/concurrency",
           "too small", "bound is 0"),
    Broken("yes for a boolean", ACME, "active: true", "active: yes", "/active", "not true or false", "yes, no, on"),
    Broken("price as a number", HOSTED, 'input_per_million: "0.15"', "input_per_million: 0.15",
           "/prices/tiers/0/input_per_million", "not a string", "quotes"),
    Broken("number in quotes", SMOL, "max_output: 256", 'max_output: "256"', "/max_output", "whole number", "quotes"),
    Broken("whole number with a fraction", SMOL, "max_output: 256", "max_output: 256.0", "/max_output",
           "not a whole number", "Write a whole number"),
    Broken("unknown word", SMOL, "on_disconnect: cancel", "on_disconnect: abort", "/on_disconnect",
           "none of the words", "continue"),
    Broken("engine of the wrong type", SMOL, "  placement:\n    device: cpu\n    count: 1\n    sharing: exclusive\n",
           "  placement: cpu\n", "/engine/placement", "not a mapping", "keys with values"),
    Broken("field inside an optional object", SMOL, "  kv_format: fp16\n", "  kv_formt: fp16\n  kv_format: fp16\n",
           "/engine/kv_formt", "not known", "is kv_format"),
    Broken("empty list", ACME, "purposes: [drafting, answers]", "purposes: []", "/purposes", "too short", "bound is 1"),
    Broken("name twice in a list", ACME, "purposes: [drafting, answers]", "purposes: [drafting, answers, drafting]",
           "/purposes/2", "twice", "Keep one"),
    Broken("no chat", HOSTED, "capabilities: [chat]", "capabilities: [tools]", "/capabilities", "serves no request",
           "Add chat"),
    Broken("calls at once without tools", HOSTED, "capabilities: [chat]", "capabilities: [chat, parallel_tool_calls]",
           "/capabilities/1", "without tools", "Add tools"),
    Broken("one approval", MAIL, "", ONE_APPROVAL, "/approvals", "too short", "Two people", "approvals:"),
    Broken("day that does not exist", MAIL, "rate: 0\n  date: 2026-11-30", "rate: 0\n  date: 2026-02-30",
           "/evaluation/date", "form that is needed", "A day", "2026-02-30"),
    Broken("upper case in an alias", "releases.yaml", "  mail: mail@2", "  Mail: mail@2", "/releases/Mail", "form",
           "Lower-case"),
    # What a diff does not show
    *(
        Broken(f"account behind {name}", PLATFORM, "  # Asks models now and then, to see that they answer.\n",
               f"  # Asks{end}  - id: monitor{end}    groups: []{end}    roles: [operator]{end}  # models\n",
               "", "character that nobody sees", "Type the line again", "  # Asks")
        for name, end in (("a line separator", "\u2028"), ("a paragraph separator", "\u2029"),
                             ("a next line", "\u0085"), ("a carriage return", "\r"))
    ),
    Broken("byte order mark", PLATFORM, "# yaml-language-server", "\ufeff# yaml-language-server", "", "nobody sees",
           "Type the line again"),
    Broken("text turned round in a comment", ACME, "# Counts where", "# Counts \u202ewhere", "", "nobody sees",
           "Type the line again"),
    Broken("zero width in a comment", ACME, "# Counts where", "# Counts\u200b where", "", "nobody sees",
           "Type the line again"),
    Broken("tab in a comment", ACME, "# Counts where", "# Counts\twhere", "", "nobody sees", "spaces for blanks"),
    Broken("line ends of another system", ACME, "active: true\n", "active: true\r\n", "", "carriage return",
           "plain line ends", "active: true"),
    Broken("role in an escape", ACME, "groups: [press]\n    roles: [generate]",
           'groups: [press]\n    roles: ["\\x6fperator"]', "", "escape that hides", "character itself", "x6fperator"),
    Broken("class in an escape", ACME, "privacy_class: internal", 'privacy_class: "\\u0070ublic"', "",
           "escape that hides", "character itself", "u0070"),
    Broken("class in a long escape", ACME, "privacy_class: internal", 'privacy_class: "\\U00000070ublic"', "",
           "escape that hides", "character itself", "U00000070"),
    Broken("role over two lines", ACME, "groups: [press]\n    roles: [generate]",
           'groups: [press]\n    roles: ["oper\\\n      ator"]', "", "escape that hides", "in one line", '["oper'),
    Broken("secret in a comment", ACME, "# Counts where", "# sk-abcDEF123456 Counts where", "", "holds a secret",
           "Take it out", "# sk-"),
    Broken("number with leading zeros", ACME, "  concurrency: unlimited", "  concurrency: 0100",
           "/limits/concurrency", "not a plain decimal", "leading zeros"),
    Broken("octal number", ACME, "  concurrency: unlimited", "  concurrency: 0o7777", "/limits/concurrency",
           "not a plain decimal", "leading zeros"),
    Broken("hexadecimal number", ACME, "  concurrency: unlimited", "  concurrency: 0x1F", "/limits/concurrency",
           "not a plain decimal", "leading zeros"),
    Broken("fraction with leading zeros", MAIL, "  score: 1\n", "  score: 01.0\n", "/evaluation/score",
           "not a plain decimal", "leading zeros"),
    Broken("version with a leading zero", "releases.yaml", "  mail: mail@2", "  mail: mail@02", "/releases/mail",
           "form that is needed", "with its version"),
    # References
    Broken("unknown purpose", ACME, "purposes: [drafting, answers]", "purposes: [drafting, answer]", "/purposes/1",
           "no such purpose", "Did you mean answers? Add purposes/ID.yaml"),
    Broken("default purpose of another", ACME, "default_purpose: drafting", "default_purpose: other",
           "/default_purpose", "none of the tenant's purposes", "Add it to purposes"),
    Broken("alias without a release", ACME, "aliases: [chat, assist]", "aliases: [chat, mai]", "/aliases/1",
           "No bundle", "Did you mean mail?"),
    Broken("unknown provider", ACME, "providers: [in-house, openai, anthropic]", "providers: [inhouse]", "/providers/0",
           "no such provider", "quota scope"),
    Broken("unknown class of a tenant", ACME, "privacy_class: internal", "privacy_class: secret", "/privacy_class",
           "no such privacy class", "privacy.yaml"),
    Broken("unknown class of a purpose", "purposes/answers.yaml", "privacy_class: internal", "privacy_class: secret",
           "/privacy_class", "no such privacy class", "privacy.yaml"),
    Broken("unknown class of an approval", HOSTED, "  - privacy_class: internal\n",
           "  - privacy_class: internal\n    by: Kim\n    evidence: none\n    until: 2028-01-01T00:00:00Z\n"
           "  - privacy_class: secret\n", "/approvals/1/privacy_class", "no such privacy class", "privacy.yaml",
           "privacy_class: secret"),
    Broken("unknown class of a bundle", MAIL, "privacy_class: internal", "privacy_class: secret", "/privacy_class",
           "no such privacy class", "privacy.yaml"),
    Broken("unknown purpose of a bundle", MAIL, "purposes: [drafting, answers]", "purposes: [drafting, answer]",
           "/purposes/1", "no such purpose", "Did you mean answers? Add purposes/ID.yaml"),
    Broken("unknown profile", MAIL, "  - id: hosted-small", "  - id: hosted-smal", "/profiles/0/id",
           "no such profile", "Did you mean hosted-small?"),
    Broken("unknown bundle", "releases.yaml", "mail@2", "mail@3", "/releases/mail", "no such bundle",
           "Did you mean mail@2?"),
    Broken("unknown quota scope", SMOL, "quota_scope: in-house", "quota_scope: elsewhere", "/quota_scope",
           "no such quota scope", "Add quota-scopes/ID.yaml"),
    Broken("unknown credential", HOSTED, "credential: example-key", "credential: example-kez", "/credential",
           "no such credential", "Did you mean example-key?"),
    Broken("unknown tenant of a credential", KEY, "tenants: [acme]", "tenants: [acne]", "/tenants/0",
           "no such tenant", "Did you mean acme?"),
    Broken("unknown tenant of an engine", SMOL, "  tenants: [acme]", "  tenants: [acne]", "/engine/tenants/0",
           "no such tenant", "Did you mean acme?"),
    Broken("quota scope of another provider", HOSTED, "quota_scope: example", "quota_scope: in-house",
           "/quota_scope", "another provider", "quota scope of the profile's provider"),
    # Single objects
    Broken("reserved tenant", "tenants/system.yaml", "", SYSTEM, "/id", "reserved", "another id", "id: system"),
    Broken("account twice", ACME, "service_accounts:\n",
           "service_accounts:\n  - id: assistant\n    groups: []\n    roles: [operator]\n", "/service_accounts/1/id",
           "same id", "its own id", "  - id: assistant\n    groups: [staff]"),
    Broken("operator who generates", ACME, "groups: [press]\n    roles: [generate]",
           "groups: [press]\n    roles: [operator, generate]", "/service_accounts/1/roles",
           "both generates and administers", "an account of its own", "roles: [operator, generate]"),
    Broken("auditor who generates", ACME, "groups: [press]\n    roles: [generate]",
           "groups: [press]\n    roles: [generate, auditor]", "/service_accounts/1/roles",
           "both generates and administers", "an account of its own", "roles: [generate, auditor]"),
    Broken("id differs from the file", "purposes/answers.yaml", "id: answers", "id: answer", "/id",
           "differs from the name", "Rename"),
    Broken("no room for input", SMOL, "max_output: 256", "max_output: 2048", "/max_output", "no room",
           "below context_window"),
    Broken("connecting outlasts the deadline", SMOL, "  total_ms: 60000", "  total_ms: 1000",
           "/timeouts/connect_ms", "longer than", "raise total_ms", "connect_ms: 2000"),
    Broken("tiers do not start at 0", HOSTED, '    - input_per_million: "0.15"\n',
           '    - above_input_tokens: 1\n      input_per_million: "0.15"\n', "/prices/tiers/0/above_input_tokens",
           "start at 0", "tier from 0"),
    Broken("tiers do not ascend", HOSTED, "above_input_tokens: 4000", "above_input_tokens: 0",
           "/prices/tiers/1/above_input_tokens", "ascend", "Order"),
    Broken("moving revision", SMOL, "revision: q4_1", "revision: Main", "/revision", "moving", "Pin"),
    Broken("moving revision after a name", HOSTED, "revision: small-2026-06-01", "revision: small:latest",
           "/revision", "moving", "Pin"),
    Broken("moving model", HOSTED, "\nmodel: small-2026-06-01", "\nmodel: small-latest", "/model", "moving", "Pin",
           "model: small-latest"),
    Broken("moving engine", SMOL, '  version: "2026.10.11549"', "  version: nightly", "/engine/version", "moving",
           "Pin"),
    Broken("moving branch", SMOL, "revision: q4_1", "revision: main-branch", "/revision", "moving", "Pin"),
    Broken("moving build", SMOL, '  version: "2026.10.11549"', "  version: nightly-build", "/engine/version", "moving",
           "Pin"),
    Broken("adapter of the other kind", SMOL, "adapter: llama_cpp", "adapter: openai", "/adapter", "does not fit",
           "llama_cpp, vllm"),
    Broken("hosted with an engine", HOSTED, "on_disconnect: continue\n",
           "on_disconnect: continue\nengine:\n  name: e\n  version: '1'\n  model_file: f\n  weights_format: w\n"
           "  kv_format: k\n  placement: {device: cpu, count: 1, sharing: exclusive}\n  readiness: {}\n"
           "  capacity: {basis: measured, kv_tokens: 1, context: 1, engine_version: '2', device: d, workload: w, "
           "date: 2026-11-30, by: b}\n"
           "  prefix_cache: 'off'\n  tenants: any\n"
           "  abilities: {abort_by_id: false, enforce_context: false, attest_revision: false}\n",
           "/engine", "hosted profile has an engine", "Remove engine", "engine:"),
    Broken("single tenant without one", SMOL, "  tenants: [acme]", "  tenants: any", "/engine/prefix_cache",
           "exactly one tenant", "engine/tenants", "prefix_cache: single_tenant"),
    Broken("engine of no tenant", SMOL, "prefix_cache: single_tenant\n  tenants: [acme]",
           "prefix_cache: salted\n  tenants: []", "/engine/tenants", "list is too short", "bound is 1", "tenants: []"),
    Broken("engine that does not say whose it is", SMOL, "prefix_cache: single_tenant\n  tenants: [acme]",
           "prefix_cache: salted", "/engine", "key tenants is missing", "or the word any", "engine:"),
    Broken("engine of a word", SMOL, "  tenants: [acme]", "  tenants: all", "/engine/tenants",
           "none of the forms that are allowed", "Write a list or any", "tenants: all"),
    Broken("endpoint without a valid port", HOSTED, "https://api.example.com/v1", "https://api.example.com:99999/v1",
           "/endpoint", "no valid host and port", "scheme://host:port/path", "99999"),
    Broken("endpoint on port 0", HOSTED, "https://api.example.com/v1", "https://api.example.com:0/v1", "/endpoint",
           "no valid host and port", "scheme://host:port/path", "example.com:0"),
    Broken("loopback that is not", SMOL, "http://127.0.0.1:8091/v1", "http://10.0.0.7:8091/v1", "/network",
           "does not fit", "for loopback alone", "network: loopback"),
    Broken("plain text in public", SMOL, "endpoint: http://127.0.0.1:8091/v1\nnetwork: loopback",
           "endpoint: http://engine.example.com:8091/v1\nnetwork: public", "/endpoint", "plain text", "https",
           "engine.example.com"),
    *(
        Broken(f"{title} in a private network", SMOL, LOCAL, at(endpoint), "/network", "is not a private one",
               "Call the network public", "network: private")
        for title, endpoint in (("public name", "https://evil.com/v1"), ("name that looks like an address", DOTTED),
                                ("public address", "https://8.8.8.8/v1"))
    ),
    *(
        Broken(f"metadata at {host}", SMOL, LOCAL, at(f"http://{host}/v1"), "/endpoint", "no engine has",
               "never allowed")
        for host in ("metadata", "metadata.google.internal", "[fd00:ec2::254]", "100.100.100.200",
                     "[64:ff9b::a9fe:a9fe]")
    ),
    *(
        Broken(f"path with {part}", SMOL, LOCAL, at(f"http://127.0.0.1:8091{part}", "loopback"), "/endpoint",
               "leads elsewhere", "Write the path out")
        for part in ("/v1/../admin", "//v1", "/v1//", "/./v1", "/..")
    ),
    Broken("link-local address", SMOL, LOCAL, at("http://169.254.169.254/v1"), "/endpoint", "no engine has",
           "never allowed"),
    Broken("link-local address in public", SMOL, LOCAL, at("https://169.254.169.254/v1", "public"), "/endpoint",
           "no engine has", "never allowed"),
    Broken("hosted without a credential", HOSTED, "credential: example-key\n", "", "/kind", "no credential",
           "credential", "kind: hosted"),
    Broken("secret of another credential", "credentials/openai-eu.yaml", "env:GATEWAY_SECRET_OPENAI_EU",
           "env:GATEWAY_SECRET_EXAMPLE", "/secret", "Another credential", "See "),
    Broken("secret file of another credential", KEY, "env:GATEWAY_SECRET_EXAMPLE", "file:anthropic-eu", "/secret",
           "Another credential", "See "),
    *(
        Broken(f"credential for {host}", KEY, "hosts: [api.example.com]", f'hosts: [api.example.com, "{host}"]',
               "/hosts/1", "no host that an endpoint may have", "from 1 to 65535")
        for host in ("..", "-", "-a.example.com", "api.example.com:65536", "api.example.com:0", "metadata",
                     "169.254.169.254")
    ),
    Broken("credential for another host", KEY, "hosts: [api.example.com]", "hosts: [api.example.org]", "/credential",
           "may not be sent", "Add the endpoint's host", "credential: example-key", HOSTED),
    Broken("credential for another port", KEY, "hosts: [api.example.com]", 'hosts: ["api.example.com:8443"]',
           "/credential", "may not be sent", "Add the endpoint's host", "credential: example-key", HOSTED),
    Broken("endpoint on a port that the credential does not name", HOSTED, "https://api.example.com/v1",
           "https://api.example.com:8443/v1", "/credential", "may not be sent", "Add the endpoint's host",
           "credential: example-key"),
    Broken("secret in place of a reference", KEY, "env:GATEWAY_SECRET_EXAMPLE", "sk-abcDEF123456", "/secret",
           "looks like a secret", "Name where the secret lies"),
    Broken("limit of a quota scope", "quota-scopes/in-house.yaml", "  concurrency: unlimited", "  concurrency: -1",
           "/limits/concurrency", "too small", "bound is 0"),
    # Approvals
    Broken("changed since approval", HOSTED, "max_output: 1000", "max_output: 2000", "/profiles/0/digest",
           "changed since approval", "with the digest sha256:", "digest:", MAIL, approve=False),
    Broken("profile twice", MAIL, "  - id: smollm2-135m\n", "  - id: hosted-small # again\n", "/profiles/1/id",
           "same id", "its own id", "# again"),
    Broken("approved by the author", MAIL, "  - by: Kim Okafor", "  - by: alex  TAN", "/approvals/0/by",
           "author approves", "two other people"),
    Broken("one person twice", MAIL, "  - by: Kim Okafor", "  - by: robin reyes", "/approvals/1/by", "approves twice",
           "second person", "  - by: Robin Reyes"),
    Broken("another blank than the space", MAIL, "  - by: Kim Okafor", '  - by: "ROBIN\\_Reyes "',
           "/approvals/0/by", "nobody sees", "without copying", "ROBIN"),
    Broken("author with a blank of no width", MAIL, "  - by: Kim Okafor", "  - by: Alex Tan\u200b",
           "", "nobody sees", "without copying"),
    Broken("author with a soft hyphen", MAIL, "author: Alex Tan", "author: Al\u00adex Tan", "",
           "nobody sees", "without copying"),
    Broken("author with a printable blank", MAIL, "  - by: Kim Okafor", "  - by: Alex Tan\u3164",
           "", "nobody sees", "without copying"),
    Broken("control in a text", ACME, "title: Acme, the example", 'title: "Acme\\a"', "/title", "nobody sees",
           "without copying"),
    Broken("author in full width", MAIL, "  - by: Kim Okafor", "  - by: \uff21lex  tan", "/approvals/0/by",
           "author approves", "two other people"),
    Broken("approver in other letters", MAIL, "  - by: Kim Okafor", "  - by: AIex Tan", "/approvals/0/by",
           "author approves", "two other people"),
    Broken("one person in other letters", MAIL, "  - by: Kim Okafor", "  - by: Robìn Reyes", "/approvals/1/by",
           "approves twice", "second person", "  - by: Robin Reyes"),
    *(
        Broken(f"approved twice by {name}", MAIL, "  - by: Robin Reyes", f"  - by: {name}", "/approvals/1/by",
               "One person approves twice", "second person")
        for name in ("Kim-Okafor", "kim.okafor", "KimOkafor", "OkaforKim", "Okafor Kim", "Kim Okafor.",
                     "Okafor, Kim", "Kim X. Okafor")
    ),
    Broken("author who turns the name round", MAIL, "  - by: Kim Okafor", '  - by: "Tan, Alex"', "/approvals/0/by",
           "author approves", "two other people"),
    Broken("approver with an address", MAIL, "  - by: Robin Reyes", "  - by: Kim Okafor <kim@example.com>",
           "/approvals/1/by", "more than a name", "name alone"),
    *(
        Broken(f"approver with a letter of no name: {name}", MAIL, "  - by: Robin Reyes", f"  - by: {name}",
               "/approvals/1/by", "letter that is in no name", "letters of a name")
        for name in ("\u1d0bim Okafor", "Kim O\u0138afor", "\ua4d7\ua4f2\ua4df \ua4f3\ua4d7\ua4ee\ua4dd")
    ),
    *(
        Broken(f"approver {name}", MAIL, "  - by: Robin Reyes", f"  - by: {name}", "/approvals/1/by",
               "no person's name", "in full")
        for name in (".", "x")
    ),
    Broken("approver with a letter of another script", MAIL, "  - by: Kim Okafor", "  - by: Kim Ok\u0430for",
           "/approvals/0/by", "letters of several scripts", "Type it again"),
    Broken("author with a letter of another script", MAIL, "author: Alex Tan", "author: Alex T\u03b1m", "/author",
           "letters of several scripts", "Type it again"),
    Broken("evaluation to come", MAIL, "rate: 0\n  date: 2026-11-30", "rate: 0\n  date: 2026-12-01",
           "/evaluation/date", "has not come yet", "day on which it happened", "2026-12-01"),
    Broken("approval to come", MAIL, "  - by: Kim Okafor\n    date: 2026-11-30",
           "  - by: Kim Okafor\n    date: 2026-12-01", "/approvals/0/date", "has not come yet",
           "day on which it happened", "2026-12-01"),
    Broken("approval before the evaluation", MAIL, "  - by: Kim Okafor\n    date: 2026-11-30",
           "  - by: Kim Okafor\n    date: 2026-11-29", "/approvals/0/date", "older than the evaluation",
           "after its evaluation", "2026-11-29"),
    Broken("class not approved", MAIL, "privacy_class: internal", "privacy_class: private", "/profiles/0/id",
           "not approved for the bundle's privacy class", "that class or a stricter one", "  - id: hosted-small"),
    # Files
    Broken("stray file", "profiles/notes.md", "", "# notes", "", "has no place", "Remove it", "-"),
    Broken("stray ending", "profiles/other.yml", "", "id: other", "", "has no place", "Remove it", "-"),
    Broken("stray folder", "models/a.yaml", "", "id: a", "", "has no place", "Remove it", "-", "models"),
    Broken("hidden file", "tenants/.other.yaml", "", SYSTEM, "", "has no place", "Remove it", "-"),
]  # fmt: skip
