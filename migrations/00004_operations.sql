-- +goose Up
-- Operations, what people approved, what was tried, what was found. Named constraints
-- forbid what the rules forbid: a bug must hit a constraint, not a customer.

-- PostgreSQL reads the text of every CHECK anew at each statement. Long lists stand in functions, whose plans are
-- kept by each session: a third of the gate's time in the database went into reading constants.
-- +goose StatementBegin
CREATE FUNCTION is_operation_state(state text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
    RETURN state IN ('draft', 'pending_approval', 'waiting', 'ready', 'in_progress',
        'retry_scheduled', 'unknown', 'review', 'reexecution_requested', 'confirmed', 'rejected', 'cancelled', 'not_executed');
END $$;
-- +goose StatementEnd
-- Every operation that is not closed has exactly one next decision, with a responsible and a time (I4).
-- +goose StatementBegin
CREATE FUNCTION next_decision_fits(state text, kind text, remedy text, at timestamptz, by_system boolean, role text, person text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
    IF state IN ('confirmed', 'rejected', 'cancelled', 'not_executed') THEN
        RETURN (kind = 'remedy') = (remedy <> '') AND kind IN ('', 'remedy');
    END IF;
    RETURN kind <> '' AND at IS NOT NULL AND (by_system OR role <> '' OR person IS NOT NULL);
END $$;
-- +goose StatementEnd
-- Nothing that may be sent is without a clearance.
-- +goose StatementBegin
CREATE FUNCTION clearance_fits(state text, clearance text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
    RETURN clearance IS NOT NULL OR state NOT IN ('waiting', 'ready', 'in_progress', 'retry_scheduled');
END $$;
-- +goose StatementEnd
-- An unsettled unknown is never hidden by a state that looks harmless.
-- +goose StatementBegin
CREATE FUNCTION unsettled_fits(state text, unsettled int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
    RETURN unsettled = 0 OR state NOT IN ('ready', 'retry_scheduled', 'draft', 'pending_approval', 'waiting', 'cancelled', 'rejected', 'not_executed');
END $$;
-- +goose StatementEnd

CREATE TABLE operations (
    id             text COLLATE "C" PRIMARY KEY CONSTRAINT operations_id_form CHECK (id LIKE 'op\_%' AND length(id) = 29),
    run_id         text COLLATE "C" NOT NULL REFERENCES runs,
    flow           text COLLATE "C" NOT NULL,
    flow_version   int  NOT NULL,
    stage          text NOT NULL CONSTRAINT operations_stage CHECK (stage <> ''),
    stage_no       int  NOT NULL,
    stages         int  NOT NULL,                   -- how many stages its run has
    item_key       text NOT NULL DEFAULT '',
    replacement    int  NOT NULL DEFAULT 0,
    replaces       text COLLATE "C" REFERENCES operations,
    destination    text COLLATE "C" NOT NULL REFERENCES destinations,
    action         text NOT NULL,
    effect_type    text NOT NULL,
    account        text NOT NULL,
    environment    text NOT NULL,
    title          text NOT NULL DEFAULT '',
    adopted        boolean NOT NULL DEFAULT false,
    state          text NOT NULL CONSTRAINT operations_state CHECK (is_operation_state(state)),
    revision       bigint NOT NULL DEFAULT 1,
    version_id     text COLLATE "C",
    version_no     int NOT NULL DEFAULT 0,
    clearance_id   text COLLATE "C",
    attempts_used  int NOT NULL DEFAULT 0,          -- counted against the limit
    attempts_max   int NOT NULL CONSTRAINT operations_attempts_max CHECK (attempts_max BETWEEN 1 AND 1000),
    attempts_ever  int NOT NULL DEFAULT 0,
    fence          bigint NOT NULL DEFAULT 0,       -- of the newest claim
    open_attempt   text COLLATE "C",
    unsettled      int NOT NULL DEFAULT 0 CONSTRAINT operations_unsettled CHECK (unsettled >= 0),
    ever_unproven  boolean NOT NULL DEFAULT false,  -- some dispatched attempt was not proven not_started
    key_generation int NOT NULL DEFAULT 1,
    key_first      timestamptz,                     -- first dispatch with the current key
    stored_error   boolean NOT NULL DEFAULT false,  -- the current key replays an error
    key_answered   boolean NOT NULL DEFAULT false,  -- the destination has said its last word on this key
    last_dispatch  timestamptz,                     -- newest dispatch of any attempt
    last_send      timestamptz,                     -- latest moment at which any request may have left
    stated         boolean NOT NULL DEFAULT false,  -- settled by a person's statement, not by a proof
    disputed       boolean NOT NULL DEFAULT false,  -- evidence contradicts the state it was closed in
    stopped        boolean NOT NULL DEFAULT false,  -- no further attempt: withdrawn or cancelled after dispatch
    deliberate     boolean NOT NULL DEFAULT false,  -- a replacement that is meant as a second effect
    retry_at       timestamptz,
    lookup_at      timestamptz,
    misses         int NOT NULL DEFAULT 0,
    last_lookup    text,
    last_lookup_at timestamptz,
    request_id     text COLLATE "C",                -- open or approved re-execution request
    case_round     int NOT NULL DEFAULT 0,          -- checklist answers belong to one round
    next_kind      text NOT NULL,
    next_role      text NOT NULL DEFAULT '',
    next_user      text COLLATE "C",
    next_system    boolean NOT NULL DEFAULT false,
    next_at        timestamptz,
    next_since     timestamptz,                     -- since when this decision waits
    hold_until     timestamptz,
    expires_at     timestamptz,                     -- of the current clearance
    paused         boolean NOT NULL DEFAULT false,
    target_reference text,
    target_url     text,
    confirmed_by   text CONSTRAINT operations_confirmed_by CHECK (confirmed_by IN ('destination', 'person')),
    duplicate      text NOT NULL DEFAULT '' CONSTRAINT operations_duplicate CHECK (duplicate IN ('', 'suspected', 'confirmed')),
    delivery       text NOT NULL DEFAULT '' CONSTRAINT operations_delivery CHECK (delivery IN ('', 'accepted', 'delivered', 'bounced', 'complained')),
    remedy         text NOT NULL DEFAULT '',
    deliver_by     timestamptz,                     -- news of an accepted mail is due by then
    chain_seq      bigint NOT NULL DEFAULT 0,
    chain_hash     bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,            -- time of the last history entry
    CONSTRAINT operations_intent UNIQUE (run_id, stage, item_key, replacement),
    CONSTRAINT operations_replacement CHECK ((replacement = 0) = (replaces IS NULL)),
    CONSTRAINT operations_next_decision CHECK (next_decision_fits(state, next_kind, remedy, next_at, next_system, next_role, next_user)),
    CONSTRAINT operations_open_attempt CHECK ((state = 'in_progress') = (open_attempt IS NOT NULL)),
    CONSTRAINT operations_cleared CHECK (clearance_fits(state, clearance_id)),
    CONSTRAINT operations_unknown CHECK (unsettled_fits(state, unsettled)),
    CONSTRAINT operations_confirmed CHECK ((state = 'confirmed') = (confirmed_by IS NOT NULL)),
    CONSTRAINT operations_attempt_limit CHECK (attempts_used <= attempts_max)
);
CREATE INDEX operations_human ON operations (next_role, next_at, id) INCLUDE (next_user, flow, destination, state) WHERE next_kind <> '' AND NOT next_system;
CREATE INDEX operations_open_state ON operations (state, id) INCLUDE (flow, destination) WHERE state NOT IN ('confirmed', 'rejected', 'cancelled', 'not_executed');
CREATE INDEX operations_due ON operations (next_at) WHERE next_system;
CREATE INDEX operations_lookup_due ON operations (lookup_at) WHERE lookup_at IS NOT NULL;
CREATE INDEX operations_expiry ON operations (expires_at) WHERE expires_at IS NOT NULL AND state IN ('waiting', 'ready', 'retry_scheduled', 'unknown', 'pending_approval');
CREATE INDEX operations_deliver_by ON operations (deliver_by) WHERE deliver_by IS NOT NULL;
CREATE INDEX operations_newest ON operations (created_at DESC, id DESC);
CREATE INDEX operations_target ON operations (target_reference) WHERE target_reference IS NOT NULL;

CREATE TABLE content_versions (
    id            text COLLATE "C" PRIMARY KEY CONSTRAINT content_versions_id_form CHECK (id LIKE 'ver\_%'),
    operation_id  text COLLATE "C" NOT NULL REFERENCES operations,
    number        int NOT NULL CONSTRAINT content_versions_number CHECK (number >= 1),
    author_kind   text NOT NULL CONSTRAINT content_versions_author CHECK (author_kind IN ('person', 'model', 'token', 'flow')),
    author_id     text NOT NULL,
    prompted_by   text,                              -- the person behind a model's draft
    model         text NOT NULL DEFAULT '',
    note          text NOT NULL DEFAULT '',
    missing       text[] NOT NULL DEFAULT '{}',
    hash          bytea CONSTRAINT content_versions_hash CHECK (length(hash) = 32), -- NULL while something is missing
    account       text NOT NULL,
    environment   text NOT NULL,
    credential    text NOT NULL,
    flow_version  int NOT NULL,
    destination_version int NOT NULL,
    created_at    timestamptz NOT NULL,
    CONSTRAINT content_versions_order UNIQUE (operation_id, number),
    CONSTRAINT content_versions_exact UNIQUE (id, operation_id, hash),
    CONSTRAINT content_versions_complete CHECK ((hash IS NULL) = (cardinality(missing) > 0))
);
-- Bodies are apart: they can be erased, the facts above cannot.
CREATE TABLE version_bodies (
    version_id text COLLATE "C" PRIMARY KEY REFERENCES content_versions,
    content    text NOT NULL,        -- JSON
    request    text NOT NULL,        -- JSON of operation.Request, holes still open
    salt       bytea NOT NULL
);

CREATE TABLE submissions (
    version_id   text COLLATE "C" PRIMARY KEY REFERENCES content_versions,
    operation_id text COLLATE "C" NOT NULL,
    submitted_by text NOT NULL,
    policy       text NOT NULL,       -- JSON of operation.Policy, pinned here
    submitted_at timestamptz NOT NULL
);

CREATE TABLE approvals (
    id           text COLLATE "C" PRIMARY KEY,
    operation_id text COLLATE "C" NOT NULL,
    version_id   text COLLATE "C" NOT NULL,
    hash         bytea NOT NULL,
    request_id   text COLLATE "C",     -- set for a decision on a re-execution
    decision     text NOT NULL CONSTRAINT approvals_decision CHECK (decision IN ('approve', 'request_changes', 'reject', 'withdraw', 'refuse')),
    user_id      text COLLATE "C" NOT NULL REFERENCES users,
    role         text NOT NULL,
    reason       text NOT NULL DEFAULT '',
    round        int NOT NULL DEFAULT 1,  -- a version can be approved anew after expiry or withdrawal
    form_id      text NOT NULL CONSTRAINT approvals_form CHECK (form_id <> ''),
    decided_at   timestamptz NOT NULL,
    CONSTRAINT approvals_version FOREIGN KEY (version_id, operation_id, hash) REFERENCES content_versions (id, operation_id, hash),
    CONSTRAINT approvals_form_once UNIQUE (user_id, form_id)
);
CREATE UNIQUE INDEX approvals_once ON approvals (version_id, user_id, round, COALESCE(request_id, '')) WHERE decision = 'approve';
CREATE INDEX approvals_operation ON approvals (operation_id);

CREATE TABLE clearances (
    id           text COLLATE "C" PRIMARY KEY,
    operation_id text COLLATE "C" NOT NULL,
    version_id   text COLLATE "C" NOT NULL,
    hash         bytea NOT NULL,
    kind         text NOT NULL CONSTRAINT clearances_kind CHECK (kind IN ('content', 'reexecution')),
    request_id   text COLLATE "C",
    required     int NOT NULL CONSTRAINT clearances_required CHECK (required >= 1),
    policy       text NOT NULL,
    expires_at   timestamptz,
    created_at   timestamptz NOT NULL,
    CONSTRAINT clearances_version FOREIGN KEY (version_id, operation_id, hash) REFERENCES content_versions (id, operation_id, hash),
    CONSTRAINT clearances_exact UNIQUE (id, version_id, operation_id, kind),
    CONSTRAINT clearances_request CHECK ((kind = 'reexecution') = (request_id IS NOT NULL))
);
CREATE TABLE clearance_approvals (
    clearance_id text COLLATE "C" NOT NULL REFERENCES clearances,
    approval_id  text COLLATE "C" NOT NULL REFERENCES approvals,
    PRIMARY KEY (clearance_id, approval_id)
);

-- approvals, clearances, attempts and submissions reach their operation through the version or clearance
-- that they name: a second foreign key would only be checked again.
CREATE TABLE attempts (
    id            text COLLATE "C" PRIMARY KEY CONSTRAINT attempts_id_form CHECK (id LIKE 'att\_%'),
    operation_id  text COLLATE "C" NOT NULL,
    number        int NOT NULL,
    fence         bigint NOT NULL,
    kind          text NOT NULL CONSTRAINT attempts_kind CHECK (kind IN ('first', 'retry', 'protected', 'reexecution')),
    counted       int,                              -- its place in the limit; NULL for a re-execution
    cap           int NOT NULL,
    version_id    text COLLATE "C" NOT NULL,
    clearance_id  text COLLATE "C" NOT NULL,
    clearance_kind text NOT NULL,
    destination_version int NOT NULL,
    account       text NOT NULL,
    key           text NOT NULL CONSTRAINT attempts_key_present CHECK (key <> ''),
    key_generation int NOT NULL,
    protected     boolean NOT NULL,                 -- the profile protects this action with this key
    worker        text NOT NULL,
    claimed_by    text NOT NULL,                    -- token or job that holds it
    claimed_at    timestamptz NOT NULL,
    lease_until   timestamptz NOT NULL,
    lease_cap     timestamptz NOT NULL,
    send_by       timestamptz,
    dispatched_at timestamptz,
    resolved      text,                             -- the bytes that leave; erasable
    resolved_hash bytea,
    outcome       text CONSTRAINT attempts_outcome CHECK (outcome IN ('not_started', 'confirmed', 'unknown')),
    proof         text,
    permanent     boolean NOT NULL DEFAULT false,
    ended_at      timestamptz,
    settled       text CONSTRAINT attempts_settled CHECK (settled IN ('confirmed', 'not_done', 'duplicate')),
    settled_at    timestamptz,
    CONSTRAINT attempts_number UNIQUE (operation_id, number),
    CONSTRAINT attempts_fence CHECK (fence = number),  -- so a fence is never used twice
    CONSTRAINT attempts_clearance FOREIGN KEY (clearance_id, version_id, operation_id, clearance_kind) REFERENCES clearances (id, version_id, operation_id, kind),
    CONSTRAINT attempts_limit CHECK (counted IS NULL OR counted <= cap),
    CONSTRAINT attempts_reexecution CHECK ((kind = 'reexecution') = (clearance_kind = 'reexecution') AND (kind = 'reexecution') = (counted IS NULL)),
    CONSTRAINT attempts_dispatch CHECK ((dispatched_at IS NULL) = (resolved_hash IS NULL) AND (dispatched_at IS NULL) = (send_by IS NULL) AND (dispatched_at IS NULL OR dispatched_at < send_by)),
    CONSTRAINT attempts_lease CHECK (lease_until <= lease_cap AND (send_by IS NULL OR send_by <= lease_cap)),
    CONSTRAINT attempts_ended CHECK ((outcome IS NULL) = (ended_at IS NULL)),
    CONSTRAINT attempts_undispatched CHECK (outcome IS NULL OR outcome = 'not_started' OR dispatched_at IS NOT NULL)
);
CREATE UNIQUE INDEX attempts_one_open ON attempts (operation_id) WHERE outcome IS NULL;
CREATE UNIQUE INDEX attempts_one_reexecution ON attempts (clearance_id) WHERE kind = 'reexecution' AND dispatched_at IS NOT NULL;
CREATE INDEX attempts_lease_end ON attempts (lease_until) WHERE outcome IS NULL;

CREATE TABLE target_references (
    account      text NOT NULL,
    effect_type  text NOT NULL,
    reference    text NOT NULL CONSTRAINT target_references_present CHECK (reference <> ''),
    operation_id text COLLATE "C" NOT NULL REFERENCES operations,
    url          text NOT NULL DEFAULT '',
    at           timestamptz NOT NULL,
    CONSTRAINT target_references_key PRIMARY KEY (account, effect_type, reference)
);
CREATE INDEX target_references_operation ON target_references (operation_id);

CREATE TABLE evidence (
    id           text COLLATE "C" PRIMARY KEY,
    operation_id text COLLATE "C" NOT NULL REFERENCES operations,
    attempt_id   text COLLATE "C" REFERENCES attempts,
    kind         text NOT NULL CONSTRAINT evidence_kind CHECK (kind IN ('response', 'lookup', 'callback', 'statement', 'late_report')),
    result       text NOT NULL DEFAULT '',
    reference    text NOT NULL DEFAULT '',
    link         text NOT NULL DEFAULT '',
    body         text NOT NULL DEFAULT '',         -- statement text, or JSON of the finding
    given_by     text NOT NULL,
    hash         bytea NOT NULL,
    at           timestamptz NOT NULL
);
CREATE INDEX evidence_operation ON evidence (operation_id, at);

CREATE TABLE checklist_answers (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    operation_id text COLLATE "C" NOT NULL REFERENCES operations,
    round        int NOT NULL,
    item         text NOT NULL,
    yes          boolean NOT NULL,
    comment      text NOT NULL DEFAULT '',
    user_id      text COLLATE "C" NOT NULL REFERENCES users,
    at           timestamptz NOT NULL
);
CREATE INDEX checklist_operation ON checklist_answers (operation_id, round);

CREATE TABLE reexecution_requests (
    id             text COLLATE "C" PRIMARY KEY,
    operation_id   text COLLATE "C" NOT NULL REFERENCES operations,
    round          int NOT NULL,
    requested_by   text COLLATE "C" NOT NULL REFERENCES users,
    reason         text NOT NULL CONSTRAINT reexecution_reason CHECK (reason <> ''),
    key_generation int NOT NULL,                    -- the generation that would be sent
    state          text NOT NULL CONSTRAINT reexecution_state CHECK (state IN ('requested', 'approved', 'refused', 'void', 'done')),
    checked_at     timestamptz,                     -- last lookup or re-answered checklist before dispatch
    requested_at   timestamptz NOT NULL,
    decided_at     timestamptz,
    final_check_at timestamptz                      -- the check that closes the case
);
CREATE INDEX reexecution_operation ON reexecution_requests (operation_id, requested_at);
CREATE UNIQUE INDEX reexecution_one_open ON reexecution_requests (operation_id) WHERE state IN ('requested', 'approved');

-- Forms that a person has already sent: a double click is one decision.
CREATE TABLE forms_used (
    operation_id text COLLATE "C" NOT NULL REFERENCES operations,
    user_id      text COLLATE "C" NOT NULL REFERENCES users,
    form_id      text NOT NULL,
    at           timestamptz NOT NULL,
    PRIMARY KEY (operation_id, user_id, form_id)
);

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
