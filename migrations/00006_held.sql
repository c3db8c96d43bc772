-- +goose Up
-- Events that may be duplicates: held until a person decides, and what was decided.

-- What waits, and what a release needs besides the event itself. Only open changes.
CREATE TABLE held_events (
    event_id      text COLLATE "C" PRIMARY KEY REFERENCES events,
    twin_id       text COLLATE "C" NOT NULL REFERENCES events,      -- the earlier event with the same business key
    delivery_id   text COLLATE "C" NOT NULL REFERENCES deliveries,  -- the delivery that brought it
    handle        text NOT NULL DEFAULT '',                         -- of a Shopify Flow action
    action_run_id text NOT NULL DEFAULT '',
    open          boolean NOT NULL DEFAULT true,                    -- nobody has decided yet
    held_at       timestamptz NOT NULL,
    CONSTRAINT held_events_other CHECK (twin_id <> event_id)
);
CREATE INDEX held_events_open ON held_events (held_at, event_id) WHERE open;

CREATE TABLE held_decisions (
    event_id   text COLLATE "C" NOT NULL REFERENCES held_events,
    decision   text NOT NULL CONSTRAINT held_decisions_decision CHECK (decision IN ('release', 'discard')),
    user_id    text COLLATE "C" NOT NULL REFERENCES users,
    role       text NOT NULL,
    reason     text NOT NULL CONSTRAINT held_decisions_reason CHECK (reason <> ''),
    form_id    text NOT NULL CONSTRAINT held_decisions_form CHECK (form_id <> ''),
    decided_at timestamptz NOT NULL,
    CONSTRAINT held_decisions_once PRIMARY KEY (event_id)
);
CREATE TRIGGER held_decisions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON held_decisions EXECUTE FUNCTION refuse_change();

-- A decided event never waits again, and what was held stays as it was.
-- +goose StatementBegin
CREATE FUNCTION held_events_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.event_id <> OLD.event_id OR NEW.twin_id <> OLD.twin_id OR NEW.delivery_id <> OLD.delivery_id
       OR NEW.handle <> OLD.handle OR NEW.action_run_id <> OLD.action_run_id OR NEW.held_at <> OLD.held_at OR NEW.open AND NOT OLD.open THEN
        RAISE EXCEPTION 'what was held does not change' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'held_events_facts';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER held_events_facts BEFORE UPDATE OR DELETE ON held_events FOR EACH ROW EXECUTE FUNCTION held_events_guard();

-- Events that were held before this table was there.
INSERT INTO held_events (event_id, twin_id, delivery_id, handle, action_run_id, held_at)
SELECT DISTINCT ON (d.event_id) d.event_id, t.id, d.id, COALESCE(b.data::json->>'handle', ''), COALESCE(b.data::json->>'action_run_id', ''), d.received_at
FROM deliveries d JOIN events t ON d.reason = 'business key of event ' || t.id LEFT JOIN event_bodies b ON b.event_id = d.event_id
WHERE d.verdict = 'held' AND NOT EXISTS (SELECT 1 FROM event_runs x WHERE x.event_id = d.event_id)
ORDER BY d.event_id, d.received_at, d.id;

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
