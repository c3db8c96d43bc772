-- +goose Up
-- What destinations tell later about effects that they accepted, tied to its operation or waiting for it.

ALTER TABLE operations DROP CONSTRAINT operations_delivery,
    ADD CONSTRAINT operations_delivery CHECK (delivery IN ('', 'accepted', 'delivered', 'bounced', 'dropped', 'complained'));

CREATE TABLE news (
    id           text COLLATE "C" PRIMARY KEY CONSTRAINT news_id_form CHECK (id LIKE 'nws\_%'),
    destination  text COLLATE "C" NOT NULL REFERENCES destinations,
    account      text NOT NULL,                         -- of the destination when it came; news of another account ties to nothing
    news_key     text NOT NULL CONSTRAINT news_key_form CHECK (news_key <> ''),
    kind         text NOT NULL CONSTRAINT news_kind CHECK (kind IN ('accepted', 'delivered', 'deferred', 'bounced', 'dropped', 'complained', 'effect', 'contradiction', 'news')),
    names        text COLLATE "C" NOT NULL DEFAULT '',  -- the operation that it names; there may be none of that ID
    reference    text NOT NULL DEFAULT '',              -- the destination's own
    url          text NOT NULL DEFAULT '',
    body         text NOT NULL DEFAULT '',              -- masked
    body_hash    bytea NOT NULL CONSTRAINT news_hash CHECK (length(body_hash) = 32), -- SHA-256 of the body as it was kept
    happened_at  timestamptz,                           -- by the destination's clock
    received_at  timestamptz NOT NULL,
    repeats      int NOT NULL DEFAULT 0,                -- how often it came again
    state        text NOT NULL DEFAULT 'waiting' CONSTRAINT news_state CHECK (state IN ('waiting', 'tied', 'aside')),
    operation_id text COLLATE "C" REFERENCES operations,
    why          text NOT NULL DEFAULT '',              -- why it could not be tied, a stable code
    settled_at   timestamptz,
    settled_by   text COLLATE "C" REFERENCES users,     -- NULL = by itself
    reason       text NOT NULL DEFAULT '',
    form_id      text NOT NULL DEFAULT '',
    CONSTRAINT news_once UNIQUE (destination, news_key, kind, names, reference), -- a key that is not unique loses nothing
    CONSTRAINT news_tied CHECK ((state = 'tied') = (operation_id IS NOT NULL)),
    CONSTRAINT news_settled CHECK ((state = 'waiting') = (settled_at IS NULL) AND (settled_by IS NULL OR settled_at IS NOT NULL AND reason <> ''))
);
CREATE INDEX news_waiting ON news (received_at, id) WHERE state = 'waiting';
CREATE INDEX news_newest ON news (state, received_at DESC, id DESC);
CREATE INDEX news_destination ON news (destination, state, received_at DESC, id DESC);
CREATE INDEX news_last ON news (destination, received_at DESC);
CREATE INDEX news_operation ON news (operation_id, received_at) WHERE operation_id IS NOT NULL;
CREATE INDEX news_aside_body ON news (settled_at) WHERE state = 'aside' AND body <> '';
CREATE INDEX news_names ON news (names) WHERE state = 'waiting' AND names <> '';
CREATE INDEX news_reference ON news (destination, reference) WHERE state = 'waiting' AND reference <> '';

-- What was told does not change; only what became of it does, and what is settled stays so, except that a person may
-- still tie what was put aside.
-- +goose StatementBegin
CREATE FUNCTION news_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'UPDATE' OR (OLD.id, OLD.destination, OLD.account, OLD.news_key, OLD.kind, OLD.names, OLD.reference, OLD.url, OLD.body_hash, OLD.received_at)
            IS DISTINCT FROM (NEW.id, NEW.destination, NEW.account, NEW.news_key, NEW.kind, NEW.names, NEW.reference, NEW.url, NEW.body_hash, NEW.received_at)
        OR OLD.happened_at IS DISTINCT FROM NEW.happened_at OR NEW.body NOT IN (OLD.body, '') OR NEW.repeats < OLD.repeats
        OR (OLD.state, NEW.state) NOT IN (('waiting', 'waiting'), ('waiting', 'tied'), ('waiting', 'aside'), ('aside', 'aside'), ('aside', 'tied'), ('tied', 'tied'))
        OR OLD.state = 'tied' AND OLD.operation_id <> NEW.operation_id THEN
        RAISE EXCEPTION 'news is what was told: only what becomes of it is decided' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'news_kept';
    END IF;
    IF NEW.operation_id IS NOT NULL AND OLD.operation_id IS NULL AND NOT EXISTS (
        SELECT 1 FROM operations o WHERE o.id = NEW.operation_id AND o.destination = NEW.destination AND o.account = NEW.account) THEN
        RAISE EXCEPTION 'news belongs to an operation of its own destination and account' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'news_own';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER news_kept BEFORE UPDATE OR DELETE ON news FOR EACH ROW EXECUTE FUNCTION news_guard();
CREATE TRIGGER news_whole BEFORE TRUNCATE ON news EXECUTE FUNCTION refuse_change();

-- Callbacks that were not believed or could not be read. Everybody may send rubbish: a minute keeps only so many.
CREATE TABLE callback_refusals (
    id          text COLLATE "C" PRIMARY KEY CONSTRAINT callback_refusals_id_form CHECK (id LIKE 'cbr\_%'),
    destination text COLLATE "C" NOT NULL REFERENCES destinations,
    code        text NOT NULL CONSTRAINT callback_refusals_code CHECK (code <> ''),
    detail      text NOT NULL DEFAULT '',
    status      int  NOT NULL CONSTRAINT callback_refusals_status CHECK (status BETWEEN 200 AND 599),
    body_hash   bytea NOT NULL CONSTRAINT callback_refusals_hash CHECK (length(body_hash) = 32),
    size        int  NOT NULL,
    skew_ms     bigint,
    at          timestamptz NOT NULL
);
CREATE INDEX callback_refusals_newest ON callback_refusals (destination, at DESC, id DESC);
CREATE TRIGGER callback_refusals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON callback_refusals EXECUTE FUNCTION refuse_change();

-- Tokens that are taken once (Mailgun signs nothing else). The same body may come again.
CREATE TABLE callback_tokens (
    destination text COLLATE "C" NOT NULL REFERENCES destinations,
    token_hash  bytea NOT NULL CONSTRAINT callback_tokens_token CHECK (length(token_hash) = 32),
    body_hash   bytea NOT NULL CONSTRAINT callback_tokens_body CHECK (length(body_hash) = 32),
    expires_at  timestamptz NOT NULL,
    CONSTRAINT callback_tokens_once PRIMARY KEY (destination, token_hash)
);
CREATE INDEX callback_tokens_expired ON callback_tokens (expires_at);

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
