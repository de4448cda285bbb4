"""The first schema: operations, attempts, holds, results, audit, keys and sources."""

from alembic import op

revision = "0001"
down_revision = None

STATEMENTS = (
    """
    CREATE TABLE budget (
        scope_kind TEXT NOT NULL,
        scope_id TEXT NOT NULL,
        minute_us INTEGER NOT NULL CHECK (minute_us BETWEEN 0 AND 9007199254740992),
        minute_requests INTEGER NOT NULL CHECK (minute_requests BETWEEN 0 AND 9007199254740992),
        minute_tokens INTEGER NOT NULL CHECK (minute_tokens BETWEEN 0 AND 9007199254740992),
        day_us INTEGER NOT NULL CHECK (day_us BETWEEN 0 AND 9007199254740992),
        day_tokens INTEGER NOT NULL CHECK (day_tokens BETWEEN 0 AND 9007199254740992),
        month_us INTEGER NOT NULL CHECK (month_us BETWEEN 0 AND 9007199254740992),
        month_tokens INTEGER NOT NULL CHECK (month_tokens BETWEEN 0 AND 9007199254740992),
        month_cost INTEGER NOT NULL CHECK (month_cost BETWEEN 0 AND 9007199254740992),
        held_tokens INTEGER NOT NULL CHECK (held_tokens BETWEEN 0 AND 9007199254740992),
        held_cost INTEGER NOT NULL CHECK (held_cost BETWEEN 0 AND 9007199254740992),
        debt_tokens INTEGER NOT NULL CHECK (debt_tokens BETWEEN 0 AND 9007199254740992),
        debt_cost INTEGER NOT NULL CHECK (debt_cost BETWEEN 0 AND 9007199254740992),
        slots_used INTEGER NOT NULL CHECK (slots_used BETWEEN 0 AND 9007199254740992),
        slots_stranded INTEGER NOT NULL CHECK (slots_stranded BETWEEN 0 AND 9007199254740992),
        CONSTRAINT pk_budget PRIMARY KEY (scope_kind, scope_id),
        CONSTRAINT ck_budget_stranded CHECK (slots_stranded <= slots_used)
    )
     WITHOUT ROWID,
     STRICT
    """,
    """
    CREATE TABLE "key" (
        id TEXT NOT NULL,
        credential_hash BLOB NOT NULL CONSTRAINT ck_key_sha256 CHECK (length(credential_hash) = 32),
        tenant TEXT NOT NULL,
        principal TEXT NOT NULL,
        active INTEGER NOT NULL CONSTRAINT ck_key_active CHECK (active IN (0, 1)),
        label TEXT NOT NULL,
        created_us INTEGER NOT NULL CHECK (created_us BETWEEN 0 AND 9007199254740992),
        CONSTRAINT pk_key PRIMARY KEY (id),
        CONSTRAINT uq_key_credential_hash UNIQUE (credential_hash)
    )
     STRICT
    """,
    """
    CREATE TABLE meta (
        id INTEGER NOT NULL CONSTRAINT ck_meta_one_row CHECK (id = 1),
        store_id TEXT NOT NULL,
        commit_seq INTEGER NOT NULL CHECK (commit_seq BETWEEN 0 AND 9007199254740992),
        last_commit_us INTEGER NOT NULL CHECK (last_commit_us BETWEEN 0 AND 9007199254740992),
        CONSTRAINT pk_meta PRIMARY KEY (id)
    )
     STRICT
    """,
    """
    CREATE TABLE operation (
        op_id TEXT NOT NULL,
        tenant TEXT NOT NULL,
        principal TEXT NOT NULL,
        key_hash BLOB NOT NULL CONSTRAINT ck_operation_sha256 CHECK (length(key_hash) = 32),
        fingerprint_v INTEGER NOT NULL,
        fingerprint TEXT NOT NULL,
        fingerprint_fields BLOB NOT NULL,
        alias TEXT NOT NULL,
        purpose TEXT NOT NULL,
        sources BLOB NOT NULL,
        bundle TEXT NOT NULL,
        bundle_digest TEXT NOT NULL,
        max_attempts INTEGER NOT NULL CHECK (max_attempts BETWEEN 0 AND 9007199254740992),
        created_us INTEGER NOT NULL CHECK (created_us BETWEEN 0 AND 9007199254740992),
        CONSTRAINT pk_operation PRIMARY KEY (op_id),
        CONSTRAINT uq_operation_tenant_principal_key_hash UNIQUE (tenant, principal, key_hash)
    )
     STRICT
    """,
    """
    CREATE TABLE replica (
        incarnation INTEGER NOT NULL,
        started_us INTEGER NOT NULL CHECK (started_us BETWEEN 0 AND 9007199254740992),
        CONSTRAINT pk_replica PRIMARY KEY (incarnation)
    )
     STRICT
    """,
    """
    CREATE TABLE source (
        id TEXT NOT NULL,
        version INTEGER NOT NULL CHECK (version BETWEEN 1 AND 9007199254740992),
        revision TEXT NOT NULL,
        tenant TEXT NOT NULL,
        groups BLOB NOT NULL,
        privacy_class TEXT NOT NULL,
        released_us INTEGER NOT NULL CHECK (released_us BETWEEN 0 AND 9007199254740992),
        as_of_us INTEGER NOT NULL CHECK (as_of_us BETWEEN 0 AND 9007199254740992),
        CONSTRAINT pk_source PRIMARY KEY (id)
    )
     STRICT
    """,
    """
    CREATE TABLE attempt (
        op_id TEXT NOT NULL,
        n INTEGER NOT NULL CONSTRAINT ck_attempt_n CHECK (n >= 1),
        state TEXT NOT NULL,
        dispatch_id TEXT NOT NULL,
        incarnation INTEGER NOT NULL,
        profile TEXT NOT NULL,
        profile_digest TEXT NOT NULL,
        bundle_digest TEXT NOT NULL,
        policy_revision TEXT NOT NULL,
        snapshot_digest TEXT NOT NULL,
        decisions BLOB NOT NULL,
        reserved_input INTEGER NOT NULL CHECK (reserved_input BETWEEN 0 AND 9007199254740992),
        reserved_output INTEGER NOT NULL CHECK (reserved_output BETWEEN 0 AND 9007199254740992),
        reserved_cost INTEGER NOT NULL CHECK (reserved_cost BETWEEN 0 AND 9007199254740992),
        tariff BLOB NOT NULL,
        total_timeout_ms INTEGER NOT NULL CHECK (total_timeout_ms BETWEEN 0 AND 9007199254740992),
        granted_us INTEGER NOT NULL CHECK (granted_us BETWEEN 0 AND 9007199254740992),
        dispatching_us INTEGER CHECK (dispatching_us BETWEEN 0 AND 9007199254740992),
        finished_us INTEGER CHECK (finished_us BETWEEN 0 AND 9007199254740992),
        used_input INTEGER CHECK (used_input BETWEEN 0 AND 9007199254740992),
        used_output INTEGER CHECK (used_output BETWEEN 0 AND 9007199254740992),
        used_cost INTEGER CHECK (used_cost BETWEEN 0 AND 9007199254740992),
        usage_basis TEXT,
        detail TEXT,
        provider_ref TEXT,
        result_digest TEXT,
        CONSTRAINT pk_attempt PRIMARY KEY (op_id, n),
        CONSTRAINT fk_attempt_operation FOREIGN KEY(op_id) REFERENCES operation (op_id),
        CONSTRAINT uq_attempt_dispatch_id UNIQUE (dispatch_id),
        CONSTRAINT ck_attempt_state CHECK ((state = 'charged' OR state = 'closed' OR state = 'completed' OR state =
            'dispatching' OR state = 'granted' OR state = 'no_effect' OR state = 'released' OR state = 'unknown')),
        CONSTRAINT ck_attempt_dispatch_id CHECK (length(dispatch_id) > 0),
        CONSTRAINT ck_attempt_dispatching_us CHECK ((dispatching_us IS NOT NULL) = (state = 'charged' OR state =
            'closed' OR state = 'completed' OR state = 'dispatching' OR state = 'no_effect' OR state = 'unknown')),
        CONSTRAINT ck_attempt_finished_us CHECK ((finished_us IS NULL) = (state = 'dispatching' OR state = 'granted'
            OR state = 'unknown')),
        CONSTRAINT ck_attempt_result_digest CHECK ((result_digest IS NOT NULL) = (state = 'completed')),
        CONSTRAINT ck_attempt_used CHECK ((used_input IS NULL) = (used_output IS NULL) AND (used_input IS NULL) =
            (used_cost IS NULL)),
        CONSTRAINT ck_attempt_settled CHECK ((used_input IS NOT NULL) = (state = 'charged' OR state = 'closed' OR
            state = 'completed')),
        CONSTRAINT ck_attempt_basis CHECK ((usage_basis IS NULL) = (used_input IS NULL)),
        CONSTRAINT ck_attempt_usage_basis CHECK (usage_basis IS NULL OR (usage_basis = 'counted' OR usage_basis =
            'provider' OR usage_basis = 'reserved')),
        CONSTRAINT fk_attempt_replica FOREIGN KEY(incarnation) REFERENCES replica (incarnation)
    )
     STRICT
    """,
    "CREATE INDEX ix_attempt_state ON attempt (state, op_id) WHERE state <> 'completed'",
    "CREATE UNIQUE INDEX ux_attempt_effect ON attempt (op_id) WHERE state NOT IN ('no_effect', 'released')",
    """
    CREATE TABLE audit (
        incarnation INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        at_us INTEGER NOT NULL CHECK (at_us BETWEEN 0 AND 9007199254740992),
        kind TEXT NOT NULL,
        tenant TEXT,
        principal TEXT,
        op_id TEXT,
        n INTEGER,
        code TEXT NOT NULL,
        data BLOB NOT NULL,
        CONSTRAINT pk_audit PRIMARY KEY (incarnation, seq),
        CONSTRAINT fk_audit_replica FOREIGN KEY(incarnation) REFERENCES replica (incarnation)
    )
     STRICT
    """,
    "CREATE INDEX ix_audit_op_id ON audit (op_id)",
    """
    CREATE TABLE evidence (
        id INTEGER NOT NULL,
        dispatch_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        used_input INTEGER CHECK (used_input BETWEEN 0 AND 9007199254740992),
        used_output INTEGER CHECK (used_output BETWEEN 0 AND 9007199254740992),
        digest TEXT,
        provider_ref TEXT,
        who TEXT NOT NULL,
        words TEXT NOT NULL CONSTRAINT ck_evidence_words CHECK (length(words) <= 500),
        at_us INTEGER NOT NULL CHECK (at_us BETWEEN 0 AND 9007199254740992),
        CONSTRAINT pk_evidence PRIMARY KEY (id),
        CONSTRAINT fk_evidence_attempt FOREIGN KEY(dispatch_id) REFERENCES attempt (dispatch_id)
    )
     STRICT
    """,
    "CREATE INDEX ix_evidence_dispatch_id ON evidence (dispatch_id)",
    """
    CREATE TABLE hold (
        op_id TEXT NOT NULL,
        n INTEGER NOT NULL,
        scope_kind TEXT NOT NULL,
        scope_id TEXT NOT NULL,
        tokens INTEGER NOT NULL CHECK (tokens BETWEEN 0 AND 9007199254740992),
        cost INTEGER NOT NULL CHECK (cost BETWEEN 0 AND 9007199254740992),
        minute_us INTEGER NOT NULL CHECK (minute_us BETWEEN 0 AND 9007199254740992),
        day_us INTEGER NOT NULL CHECK (day_us BETWEEN 0 AND 9007199254740992),
        month_us INTEGER NOT NULL CHECK (month_us BETWEEN 0 AND 9007199254740992),
        spend TEXT NOT NULL CONSTRAINT ck_hold_spend CHECK ((spend = 'held' OR spend = 'released' OR spend =
            'settled')),
        slot TEXT NOT NULL CONSTRAINT ck_hold_slot CHECK (slot IN ('held', 'free')),
        settled_tokens INTEGER NOT NULL CHECK (settled_tokens BETWEEN 0 AND 9007199254740992),
        settled_cost INTEGER NOT NULL CHECK (settled_cost BETWEEN 0 AND 9007199254740992),
        debt_tokens INTEGER NOT NULL CHECK (debt_tokens BETWEEN 0 AND 9007199254740992),
        debt_cost INTEGER NOT NULL CHECK (debt_cost BETWEEN 0 AND 9007199254740992),
        CONSTRAINT pk_hold PRIMARY KEY (op_id, n, scope_kind, scope_id),
        CONSTRAINT fk_hold_attempt FOREIGN KEY(op_id, n) REFERENCES attempt (op_id, n),
        CONSTRAINT fk_hold_budget FOREIGN KEY(scope_kind, scope_id) REFERENCES budget (scope_kind, scope_id),
        CONSTRAINT ck_hold_settled CHECK (spend = 'settled' OR (settled_tokens = 0 AND settled_cost = 0)),
        CONSTRAINT ck_hold_within CHECK (settled_tokens <= tokens AND settled_cost <= cost)
    )
     WITHOUT ROWID,
     STRICT
    """,
    """
    CREATE TABLE result (
        op_id TEXT NOT NULL,
        n INTEGER NOT NULL,
        body BLOB NOT NULL,
        digest TEXT NOT NULL,
        created_us INTEGER NOT NULL CHECK (created_us BETWEEN 0 AND 9007199254740992),
        CONSTRAINT pk_result PRIMARY KEY (op_id),
        CONSTRAINT fk_result_attempt FOREIGN KEY(op_id, n) REFERENCES attempt (op_id, n)
    )
     STRICT
    """,
    """
    CREATE TABLE profile_mark (
        profile TEXT NOT NULL,
        kind TEXT NOT NULL CONSTRAINT ck_profile_mark_kind CHECK ((kind = 'draining' OR kind = 'quarantined')),
        profile_digest TEXT NOT NULL,
        reason TEXT NOT NULL CONSTRAINT ck_profile_mark_reason CHECK (length(reason) <= 500),
        who TEXT NOT NULL,
        since_us INTEGER NOT NULL CHECK (since_us BETWEEN 0 AND 9007199254740992),
        dispatch_id TEXT,
        promised INTEGER CHECK (promised BETWEEN 0 AND 9007199254740992),
        reported INTEGER CHECK (reported BETWEEN 0 AND 9007199254740992),
        CONSTRAINT pk_profile_mark PRIMARY KEY (profile, kind),
        CONSTRAINT ck_profile_mark_shortfall CHECK ((promised IS NULL) = (reported IS NULL))
    )
     WITHOUT ROWID,
     STRICT
    """,
    """
    CREATE TABLE withdrawal (
        source_id TEXT NOT NULL,
        revision TEXT NOT NULL,
        at_us INTEGER NOT NULL CHECK (at_us BETWEEN 0 AND 9007199254740992),
        CONSTRAINT pk_withdrawal PRIMARY KEY (source_id, revision),
        CONSTRAINT fk_withdrawal_source FOREIGN KEY(source_id) REFERENCES source (id)
    )
     WITHOUT ROWID,
     STRICT
    """,
    """
    CREATE TRIGGER attempt_begins BEFORE INSERT ON attempt
        WHEN NOT (NEW.state = 'granted')
        OR (NEW.n > 1 AND NOT EXISTS (
        SELECT 1 FROM attempt AS earlier WHERE earlier.op_id = NEW.op_id AND earlier.n = NEW.n - 1 AND earlier.state
            IN ('no_effect', 'released')))
        BEGIN SELECT RAISE(ABORT, 'illegal move: an attempt begins as granted, after one without effect'); END
    """,
    """
    CREATE TRIGGER attempt_moves BEFORE UPDATE ON attempt
        WHEN NOT ((OLD.state = 'dispatching' AND (NEW.state = 'charged'
        OR NEW.state = 'completed'
        OR NEW.state = 'no_effect'
        OR NEW.state = 'unknown'))
        OR (OLD.state = 'granted' AND (NEW.state = 'dispatching'
        OR NEW.state = 'released'))
        OR (OLD.state = 'unknown' AND (NEW.state = 'charged'
        OR NEW.state = 'closed'
        OR NEW.state = 'completed')))
        BEGIN SELECT RAISE(ABORT, 'illegal move: not in the table of moves'); END
    """,
    """
    CREATE TRIGGER attempt_is_fixed BEFORE UPDATE OF op_id, n, dispatch_id, incarnation, profile, profile_digest,
            bundle_digest, policy_revision, snapshot_digest, decisions, reserved_input, reserved_output,
            reserved_cost, tariff, total_timeout_ms, granted_us ON attempt
        WHEN 1
        BEGIN SELECT RAISE(ABORT, 'illegal move: this column is fixed'); END
    """,
    """
    CREATE TRIGGER audit_update BEFORE UPDATE ON audit
        WHEN 1
        BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END
    """,
    """
    CREATE TRIGGER audit_delete BEFORE DELETE ON audit
        WHEN 1
        BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END
    """,
    """
    CREATE TRIGGER evidence_update BEFORE UPDATE ON evidence
        WHEN 1
        BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END
    """,
    """
    CREATE TRIGGER evidence_delete BEFORE DELETE ON evidence
        WHEN 1
        BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END
    """,
    """
    CREATE TRIGGER result_update BEFORE UPDATE ON result
        WHEN 1
        BEGIN SELECT RAISE(ABORT, 'result is append-only'); END
    """,
    """
    CREATE TRIGGER result_delete BEFORE DELETE ON result
        WHEN 1
        BEGIN SELECT RAISE(ABORT, 'result is append-only'); END
    """,
    """
    CREATE TRIGGER withdrawal_update BEFORE UPDATE ON withdrawal
        WHEN 1
        BEGIN SELECT RAISE(ABORT, 'withdrawal is append-only'); END
    """,
    """
    CREATE TRIGGER withdrawal_delete BEFORE DELETE ON withdrawal
        WHEN 1
        BEGIN SELECT RAISE(ABORT, 'withdrawal is append-only'); END
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
