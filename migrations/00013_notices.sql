-- +goose Up
-- What people are told: how each wants to be told, and every notice. Nothing here refers to operations by a foreign
-- key: its check would lock their rows, and the gate must never wait for a notice.

CREATE TABLE notice_people (
    user_id    text COLLATE "C" PRIMARY KEY REFERENCES users,
    mail       boolean NOT NULL DEFAULT true,
    slack_id   text NOT NULL DEFAULT '' CONSTRAINT notice_people_slack CHECK (slack_id ~ '^([A-Z][A-Z0-9]{5,30})?$'),
    quiet_from int CONSTRAINT notice_people_quiet_from CHECK (quiet_from BETWEEN 0 AND 1439), -- minutes of the local day
    quiet_to   int CONSTRAINT notice_people_quiet_to CHECK (quiet_to BETWEEN 0 AND 1439),
    digest_at  int NOT NULL DEFAULT 480 CONSTRAINT notice_people_digest CHECK (digest_at BETWEEN 0 AND 1439),
    CONSTRAINT notice_people_quiet CHECK ((quiet_from IS NULL) = (quiet_to IS NULL) AND quiet_from <> quiet_to)
);
CREATE TABLE notice_choices (
    user_id text COLLATE "C" NOT NULL REFERENCES users,
    kind    text NOT NULL CONSTRAINT notice_choices_kind CHECK (kind IN ('approval', 'changes', 'unknown', 'reexecution', 'work', 'completed', 'overdue', 'expired', 'alert', 'digest')),
    mode    text NOT NULL CONSTRAINT notice_choices_mode CHECK (mode IN ('off', 'now', 'digest')),
    PRIMARY KEY (user_id, kind)
);

-- The newest decision of each operation that people have been told of, and when the next step is due.
CREATE TABLE notice_decisions (
    operation_id text COLLATE "C" PRIMARY KEY,
    kind         text NOT NULL,
    since        timestamptz NOT NULL,
    step         int NOT NULL CONSTRAINT notice_decisions_step CHECK (step BETWEEN 0 AND 3),
    step_at      timestamptz               -- NULL = no further step
);
CREATE INDEX notice_decisions_due ON notice_decisions (step_at) WHERE step_at IS NOT NULL;

CREATE TABLE notices (
    id          text COLLATE "C" PRIMARY KEY CONSTRAINT notices_id_form CHECK (id LIKE 'ntc\_%'),
    kind        text NOT NULL CONSTRAINT notices_kind CHECK (kind IN ('approval', 'changes', 'unknown', 'reexecution', 'work', 'completed', 'overdue', 'expired', 'alert', 'digest')),
    subject     text COLLATE "C" NOT NULL CONSTRAINT notices_subject CHECK (subject <> ''), -- an operation, a run, the installation, a person's day
    flow        text NOT NULL DEFAULT '',
    title       text NOT NULL DEFAULT '',
    decision    text NOT NULL DEFAULT '',      -- the next decision that it tells of; '' = it tells of a fact
    since       timestamptz NOT NULL,          -- when that decision began, or the fact happened
    revision    bigint NOT NULL DEFAULT 0,
    step        int NOT NULL DEFAULT 0 CONSTRAINT notices_step CHECK (step BETWEEN 0 AND 3),
    addressee   text COLLATE "C" NOT NULL CONSTRAINT notices_addressee CHECK (addressee <> ''), -- a person, or a place of the flow
    user_id     text COLLATE "C" REFERENCES users,
    channel     text NOT NULL CONSTRAINT notices_channel CHECK (channel IN ('mail', 'slack', 'slack_hook', 'teams')),
    bundle      text NOT NULL DEFAULT '',      -- what it is gathered with; '' = it goes alone
    planned_for timestamptz NOT NULL,
    state       text NOT NULL DEFAULT 'planned' CONSTRAINT notices_state CHECK (state IN ('planned', 'sent', 'unknown', 'failed', 'superseded')),
    attempts    int NOT NULL DEFAULT 0,
    lease_until timestamptz,                   -- somebody is sending it
    carried_by  text COLLATE "C",              -- the summary that told of it
    message_id  text NOT NULL DEFAULT '',
    dated       timestamptz,                   -- the message's date, frozen with its Message-ID
    last_error  text NOT NULL DEFAULT '',
    remote      text NOT NULL DEFAULT '',      -- where a chat keeps it
    live        boolean NOT NULL DEFAULT false, -- a chat message that is to be changed once the decision is taken
    created_at  timestamptz NOT NULL,
    sent_at     timestamptz,
    CONSTRAINT notices_once UNIQUE (subject, decision, since, kind, step, addressee, channel),
    CONSTRAINT notices_sent CHECK ((state = 'sent') = (sent_at IS NOT NULL)),
    CONSTRAINT notices_person CHECK (user_id IS NULL OR user_id = addressee)
);
CREATE INDEX notices_due ON notices (planned_for) INCLUDE (channel) WHERE state IN ('planned', 'unknown');
CREATE INDEX notices_bundle ON notices (addressee, channel, bundle) WHERE state IN ('planned', 'unknown') AND bundle <> '';
CREATE INDEX notices_live ON notices (subject) WHERE live;
CREATE INDEX notices_person_newest ON notices (user_id, created_at DESC, id DESC) WHERE user_id IS NOT NULL;
CREATE INDEX notices_newest ON notices (created_at);

-- How far the record has been read for notices. Whoever holds the row's lock reads on.
CREATE TABLE notice_reading (
    one       boolean PRIMARY KEY DEFAULT true CONSTRAINT notice_reading_one CHECK (one),
    read_to   bigint NOT NULL,                 -- history entries read once
    settled   bigint NOT NULL,                 -- entries up to here are complete: none is committed later
    horizon   bigint NOT NULL DEFAULT 0,       -- entries up to here will be complete when horizon_x has passed
    horizon_x text NOT NULL DEFAULT '0',
    horizon_at timestamptz,
    role      text NOT NULL DEFAULT '',        -- the place in the list of all open decisions
    kind      text NOT NULL DEFAULT '',
    at        timestamptz NOT NULL DEFAULT 'epoch',
    id        text COLLATE "C" NOT NULL DEFAULT '',
    digested  timestamptz NOT NULL             -- daily digests are planned up to here
);

-- What waits at an upgrade is known already: nobody gets a mail for each of it. It may still become overdue.
INSERT INTO notice_reading (read_to, settled, digested) SELECT COALESCE(max(id), 0), COALESCE(max(id), 0), clock_timestamp() FROM history;
INSERT INTO notice_decisions (operation_id, kind, since, step, step_at)
SELECT id, next_kind, next_since, 1, CASE WHEN next_at > clock_timestamp() THEN next_at END
FROM operations WHERE next_kind <> '' AND NOT next_system AND next_since IS NOT NULL;

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
