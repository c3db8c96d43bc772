-- +goose Up
-- What was shown of a destination's protection, on a test account, when two equal requests were sent with one key. A
-- probe that shows that it does not hold goes before what the profile says.

CREATE TABLE probes (
    id           text COLLATE "C" PRIMARY KEY CONSTRAINT probes_id_form CHECK (id LIKE 'prb\_%'),
    destination  text NOT NULL CONSTRAINT probes_destination CHECK (destination <> ''), -- which need not be in use yet
    action       text NOT NULL CONSTRAINT probes_action CHECK (action <> ''),
    account      text NOT NULL,
    environment  text NOT NULL,
    profile_hash bytea NOT NULL CONSTRAINT probes_profile CHECK (length(profile_hash) = 32), -- SHA-256 of the file that was probed
    result       text NOT NULL CONSTRAINT probes_result CHECK (result IN ('held', 'broken', 'unclear')),
    steps        json NOT NULL CONSTRAINT probes_steps CHECK (length(steps::text) <= 65536), -- what was sent and answered, masked
    actor_kind   text NOT NULL CONSTRAINT probes_actor CHECK (actor_kind IN ('person', 'system')),
    actor_id     text NOT NULL,
    at           timestamptz NOT NULL
);
CREATE INDEX probes_telling ON probes (destination, action, at DESC) WHERE result <> 'unclear';
CREATE INDEX probes_newest ON probes (destination, action, at DESC, id DESC);
CREATE TRIGGER probes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON probes EXECUTE FUNCTION refuse_change();

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
