-- +goose Up
-- The suppression list: addresses to which nothing more is sent. It only takes away: what an
-- approval covers does not change, and nothing is sent because of it.

CREATE TABLE suppressions (
    id           text COLLATE "C" PRIMARY KEY CONSTRAINT suppressions_id_form CHECK (id LIKE 'sup\_%'),
    address      text COLLATE "C" NOT NULL CONSTRAINT suppressions_address CHECK (address <> '' AND length(address) <= 320 AND address = btrim(address)),
    scope        text NOT NULL CONSTRAINT suppressions_scope CHECK (scope IN ('all', 'effect', 'destination')),
    channel      text COLLATE "C" NOT NULL DEFAULT '',   -- the effect type or the destination
    reason       text NOT NULL CONSTRAINT suppressions_reason CHECK (reason IN ('unsubscribed', 'hard_bounce', 'complaint', 'manual')),
    note         text NOT NULL DEFAULT '',
    since        timestamptz NOT NULL,
    until_at     timestamptz,                            -- NULL = for good
    source       text NOT NULL CONSTRAINT suppressions_source CHECK (source IN ('person', 'import', 'callback', 'api')),
    operation_id text COLLATE "C",                       -- whose news it follows from
    added_kind   text NOT NULL,
    added_by     text COLLATE "C" NOT NULL,
    added_name   text NOT NULL DEFAULT '',
    form_id      text NOT NULL DEFAULT '',
    revision     bigint NOT NULL DEFAULT 1,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    lifted_at    timestamptz,
    lifted_kind  text NOT NULL DEFAULT '',
    lifted_by    text COLLATE "C" NOT NULL DEFAULT '',
    lifted_name  text NOT NULL DEFAULT '',
    lifted_why   text NOT NULL DEFAULT '',
    lifted_form  text NOT NULL DEFAULT '',
    CONSTRAINT suppressions_channel CHECK ((scope = 'all') = (channel = '')),
    CONSTRAINT suppressions_until CHECK (until_at IS NULL OR until_at > since),
    CONSTRAINT suppressions_lifted CHECK ((lifted_at IS NULL) = (lifted_by = '') AND (lifted_at IS NULL) = (lifted_why = ''))
);
-- One address is suppressed once for each channel. This index finds the addresses of a slice.
CREATE UNIQUE INDEX suppressions_once ON suppressions (address, scope, channel) WHERE lifted_at IS NULL;
CREATE INDEX suppressions_newest ON suppressions (created_at DESC, id DESC);
CREATE INDEX suppressions_address_all ON suppressions (address text_pattern_ops);

-- Whether the suppression list holds one of the recipients of an item, as batch_items keeps
-- them: in small letters, joined by a comma and a blank.
-- +goose StatementBegin
CREATE FUNCTION is_suppressed(recipients text, effect text, place text, at timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM suppressions s WHERE s.address = ANY (string_to_array(recipients, ', ')) AND s.lifted_at IS NULL AND s.since <= at AND (s.until_at IS NULL OR s.until_at > at)
        AND (s.scope = 'all' OR s.scope = 'effect' AND s.channel = effect OR s.scope = 'destination' AND s.channel = place))
$$;
-- +goose StatementEnd

-- A file of addresses while a person looks at what its import would do. It goes with the import.
CREATE TABLE suppression_files (
    id         text COLLATE "C" PRIMARY KEY CONSTRAINT suppression_files_id_form CHECK (id LIKE 'suf\_%'),
    user_id    text COLLATE "C" NOT NULL REFERENCES users,
    form_id    text NOT NULL,
    name       text NOT NULL DEFAULT '',
    body       bytea NOT NULL,
    file_hash  bytea NOT NULL CONSTRAINT suppression_files_hash CHECK (length(file_hash) = 32),
    created_at timestamptz NOT NULL,
    CONSTRAINT suppression_files_once UNIQUE (user_id, form_id)
);

-- What was suppressed, why and by whom stays as it was; only its end can move, and it can be
-- lifted, once.
-- +goose StatementBegin
CREATE FUNCTION suppressions_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'UPDATE' AND OLD.lifted_at IS NULL AND NEW.id = OLD.id AND NEW.address = OLD.address AND NEW.scope = OLD.scope AND NEW.channel = OLD.channel
        AND NEW.created_at = OLD.created_at AND NEW.revision = OLD.revision + 1 THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a suppression is lifted, never changed or deleted' USING ERRCODE = 'restrict_violation', CONSTRAINT = 'suppressions_facts';
END $$;
-- +goose StatementEnd
CREATE TRIGGER suppressions_facts BEFORE UPDATE OR DELETE ON suppressions FOR EACH ROW EXECUTE FUNCTION suppressions_guard();

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
