-- +goose Up
-- Indexes that hold every filter the lists offer, and the views that people keep.

-- What waits for people: one stretch for each role and kind, in the order of its due times.
DROP INDEX operations_human;
CREATE INDEX operations_human ON operations (next_role, next_kind, next_at, id) INCLUDE (next_user, flow, destination, state, source, created_at)
    WHERE next_kind <> '' AND NOT next_system;

-- By state, newest last. Confirmed ones, nearly all, are found by the other two.
DROP INDEX operations_open_state;
CREATE INDEX operations_open_state ON operations (state, created_at, id) INCLUDE (flow, destination, source)
    WHERE state NOT IN ('confirmed', 'rejected', 'cancelled', 'not_executed');
CREATE INDEX operations_no_effect ON operations (state, created_at, id) INCLUDE (flow, destination, source)
    WHERE state IN ('rejected', 'cancelled', 'not_executed');
CREATE INDEX operations_duplicate ON operations (created_at, id) INCLUDE (flow, destination, source, state) WHERE duplicate <> '';

-- By flow, destination and source, in any combination: there are few combinations, and each is one stretch.
DROP INDEX operations_source;
CREATE INDEX operations_kind ON operations (flow, destination, source, created_at, id);

-- What one person did, newest first.
CREATE INDEX history_person ON history (actor_id, at DESC, id DESC) WHERE actor_kind = 'person' AND subject_kind = 'operation';
CREATE INDEX approvals_changes ON approvals (decided_at DESC, id DESC) WHERE decision = 'request_changes';

CREATE INDEX deliveries_kind ON deliveries (source, verdict, received_at, id);
CREATE INDEX deliveries_key ON deliveries (delivery_key) WHERE delivery_key <> '';

-- Filters of the list of operations that somebody keeps under a name.
CREATE TABLE saved_views (
    id         text COLLATE "C" PRIMARY KEY CONSTRAINT saved_views_id_form CHECK (id LIKE 'viw\_%'),
    owner_id   text COLLATE "C" REFERENCES users,       -- NULL = shared by everybody
    name       text NOT NULL CONSTRAINT saved_views_name_form CHECK (name = btrim(name) AND length(name) BETWEEN 1 AND 80),
    filters    text NOT NULL CONSTRAINT saved_views_filters CHECK (length(filters) BETWEEN 1 AND 2000),  -- a query string
    created_by text COLLATE "C" NOT NULL REFERENCES users,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT saved_views_times CHECK (updated_at >= created_at),
    CONSTRAINT saved_views_maker CHECK (owner_id IS NULL OR owner_id = created_by)
);
CREATE UNIQUE INDEX saved_views_name ON saved_views (COALESCE(owner_id, ''), lower(name));

-- The one view with which a person's list opens: one of their own, or a shared one.
CREATE TABLE default_views (
    user_id text COLLATE "C" NOT NULL REFERENCES users,
    view_id text COLLATE "C" NOT NULL REFERENCES saved_views ON DELETE CASCADE,
    CONSTRAINT default_views_one PRIMARY KEY (user_id)
);
CREATE INDEX default_views_view ON default_views (view_id);
-- +goose StatementBegin
CREATE FUNCTION default_views_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM saved_views v WHERE v.id = NEW.view_id AND (v.owner_id IS NULL OR v.owner_id = NEW.user_id)) THEN
        RAISE EXCEPTION 'a view of somebody else' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'default_views_own';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER default_views_own BEFORE INSERT OR UPDATE ON default_views FOR EACH ROW EXECUTE FUNCTION default_views_guard();

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
