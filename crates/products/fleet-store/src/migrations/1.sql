CREATE TABLE server (
    id {id},
    name TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    tags TEXT NOT NULL,
    language TEXT,
    lines BIGINT,
    hold TEXT,
    stage BIGINT NOT NULL DEFAULT 0,
    created BIGINT NOT NULL,
    retired BIGINT
);

CREATE TABLE version (
    id {id},
    server BIGINT NOT NULL REFERENCES server (id),
    digest TEXT NOT NULL,
    label TEXT NOT NULL,
    surface_digest TEXT,
    tools BIGINT,
    prompts BIGINT,
    resources BIGINT,
    modules BIGINT,
    first_seen BIGINT NOT NULL,
    seen BIGINT NOT NULL,
    UNIQUE (server, digest)
);
CREATE INDEX version_current ON version (server, seen, id);

CREATE TABLE run (
    id {id},
    cause TEXT NOT NULL,
    actor TEXT NOT NULL,
    fleet_digest TEXT NOT NULL,
    proof_version TEXT NOT NULL,
    started BIGINT NOT NULL,
    ended BIGINT
);

CREATE TABLE artefact (
    sha256 TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    created BIGINT NOT NULL
);

-- A result is written once by its key.
CREATE TABLE gate_result (
    id {id},
    server BIGINT NOT NULL REFERENCES server (id),
    version BIGINT NOT NULL REFERENCES version (id),
    gate TEXT NOT NULL,
    key TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('pass', 'fail', 'incomplete', 'skipped')),
    summary TEXT NOT NULL,
    score DOUBLE PRECISION,
    coverage DOUBLE PRECISION,
    started BIGINT NOT NULL,
    ms BIGINT NOT NULL,
    run BIGINT REFERENCES run (id),
    report TEXT REFERENCES artefact (sha256),
    findings BIGINT NOT NULL,
    recorded BIGINT NOT NULL,
    UNIQUE (version, key)
);
CREATE INDEX gate_result_latest ON gate_result (version, gate, id);
CREATE INDEX gate_result_history ON gate_result (server, gate, id);
CREATE INDEX gate_result_report ON gate_result (report);

CREATE TABLE finding (
    result BIGINT NOT NULL REFERENCES gate_result (id),
    position BIGINT NOT NULL,
    server BIGINT NOT NULL REFERENCES server (id),
    rule TEXT NOT NULL,
    level TEXT NOT NULL,
    place TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    message TEXT NOT NULL,
    first_seen BIGINT NOT NULL,
    PRIMARY KEY (result, position)
);
CREATE INDEX finding_first ON finding (server, fingerprint, first_seen);

CREATE TABLE waiver (
    id {id},
    server TEXT NOT NULL,
    scope TEXT NOT NULL,
    owner TEXT NOT NULL,
    reason TEXT NOT NULL,
    expires BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created BIGINT NOT NULL,
    ended BIGINT
);
CREATE INDEX waiver_server ON waiver (server);

-- Append only.
CREATE TABLE stage_event (
    id {id},
    server BIGINT NOT NULL REFERENCES server (id),
    at BIGINT NOT NULL,
    from_stage BIGINT NOT NULL,
    to_stage BIGINT NOT NULL,
    cause BIGINT REFERENCES gate_result (id)
);
CREATE INDEX stage_event_server ON stage_event (server, id);

CREATE TABLE note (
    id {id},
    server BIGINT NOT NULL REFERENCES server (id),
    at BIGINT NOT NULL,
    author TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX note_server ON note (server, id);

CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE job (
    id {id},
    kind TEXT NOT NULL,
    version BIGINT NOT NULL REFERENCES version (id),
    gate TEXT NOT NULL,
    key TEXT NOT NULL,
    run BIGINT REFERENCES run (id),
    payload TEXT NOT NULL,
    priority BIGINT NOT NULL,
    run_at BIGINT NOT NULL,
    attempt BIGINT NOT NULL DEFAULT 0,
    max_attempts BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('ready', 'leased', 'done', 'failed', 'cancelled')),
    leased_by TEXT,
    leased_until BIGINT,
    error TEXT,
    ended BIGINT
);
-- The same work is queued once.
CREATE UNIQUE INDEX job_key ON job (version, key) WHERE state IN ('ready', 'leased');
CREATE INDEX job_ready ON job (priority DESC, run_at, id) WHERE state = 'ready';
CREATE INDEX job_leased ON job (leased_until) WHERE state = 'leased';
CREATE INDEX job_holder ON job (leased_by) WHERE state = 'leased';
CREATE INDEX job_run ON job (run, state);
CREATE INDEX job_ended ON job (ended) WHERE state IN ('done', 'failed', 'cancelled');
