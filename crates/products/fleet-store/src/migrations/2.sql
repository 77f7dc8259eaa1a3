-- What happened and was not passed on yet; written in the transaction of what happened, removed in that of its deliveries.
CREATE TABLE outbox (
    id {id},
    kind TEXT NOT NULL CHECK (kind IN ('stage', 'gate')),
    server BIGINT NOT NULL REFERENCES server (id),
    subject BIGINT NOT NULL,
    at BIGINT NOT NULL
);

-- A message to a webhook: once for each event. Without `due`, it ended.
CREATE TABLE delivery (
    id {id},
    hook TEXT NOT NULL,
    event TEXT NOT NULL,
    body TEXT NOT NULL,
    created BIGINT NOT NULL,
    due BIGINT,
    attempt BIGINT NOT NULL DEFAULT 0,
    sent BIGINT,
    error TEXT,
    UNIQUE (hook, event)
);
CREATE INDEX delivery_due ON delivery (due, id) WHERE due IS NOT NULL;
