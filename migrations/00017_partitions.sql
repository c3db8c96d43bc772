-- +goose Up
-- What grows for ever is kept in one partition a month: history by the time of its entries, evidence and deliveries
-- by their identifiers, which begin with the time at which they were made (UUIDv7). Old rows stay where they are: the
-- old table becomes the first partition.

-- The lowest identifier of a kind that can be made from that time on: the prefix and 48 bits of milliseconds,
-- as operation.FormatID writes them.
-- +goose StatementBegin
CREATE FUNCTION id_from(prefix text, at timestamptz) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    ms bigint := floor(extract(epoch FROM at) * 1000);
    code text := '';
BEGIN
    FOR place IN REVERSE 9..0 LOOP
        code := code || substr('0123456789abcdefghjkmnpqrstvwxyz', CAST((ms >> (5 * place)) & 31 AS int) + 1, 1);
    END LOOP;
    RETURN prefix || '_' || code;
END $$;
-- +goose StatementEnd

-- A partition's bound at the beginning of a month, as it stands in its definition.
-- +goose StatementBegin
CREATE FUNCTION partition_bound(parent text, month timestamp) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    RETURN CASE parent
        WHEN 'history' THEN quote_literal(to_char(month, 'YYYY-MM-DD HH24:MI:SS') || '+00')
        WHEN 'evidence' THEN quote_literal(id_from('evi', month AT TIME ZONE 'UTC'))
        WHEN 'deliveries' THEN quote_literal(id_from('dlv', month AT TIME ZONE 'UTC')) END;
END $$;
-- +goose StatementEnd

-- Makes an empty partition that refuses changes. History's key is each partition's own: a unique key of the whole
-- table would have to hold the time, and would let a second entry take a number that is taken.
-- +goose StatementBegin
CREATE FUNCTION make_partition(parent text, name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS INCLUDING STORAGE)', name, parent);
    IF parent = 'history' THEN
        EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (subject_kind, subject_id, seq)', name);
    END IF;
    EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE OR TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', name || '_append_only', name);
END $$;
-- +goose StatementEnd

-- Makes the partitions of the coming months, as the tables' owner; how many it made. A month that another partition
-- holds already is passed over, and so is one whose rows have begun to fill the last resort, the default partition.
-- +goose StatementBegin
CREATE FUNCTION add_partitions(months int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '3s' AS $$
DECLARE
    parent text;
    first timestamp;
    name text;
    made int := 0;
BEGIN
    IF months NOT BETWEEN 1 AND 24 THEN
        RAISE EXCEPTION 'between 1 and 24 months ahead' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('holdpoint partitions'));
    FOREACH parent IN ARRAY ARRAY['history', 'evidence', 'deliveries'] LOOP
        FOR ahead IN 0..months LOOP
            first := date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => ahead);
            name := parent || to_char(first, '_YYYY_MM');
            CONTINUE WHEN to_regclass(quote_ident(name)) IS NOT NULL;
            BEGIN
                PERFORM make_partition(parent, name);
                EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, name,
                    partition_bound(parent, first), partition_bound(parent, first + interval '1 month'));
                made := made + 1;
            EXCEPTION WHEN invalid_object_definition OR check_violation THEN
                NULL;
            END;
        END LOOP;
    END LOOP;
    RETURN made;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION add_partitions(int), make_partition(text, text) FROM PUBLIC;

ALTER TABLE held_events DROP CONSTRAINT held_events_delivery_id_fkey;
ALTER TABLE attachments DROP CONSTRAINT attachments_evidence_id_fkey;

-- +goose StatementBegin
DO $$
DECLARE
    parent text;
    i record;
    next_id bigint;
BEGIN
    SELECT last_value + 1 INTO next_id FROM history_id_seq;
    ALTER TABLE history ALTER COLUMN id DROP IDENTITY;
    FOREACH parent IN ARRAY ARRAY['history', 'evidence', 'deliveries'] LOOP
        FOR i IN SELECT indexname AS name FROM pg_indexes WHERE schemaname = 'public' AND tablename = parent LOOP
            EXECUTE format('ALTER INDEX %I RENAME TO %I', i.name, 'first_' || i.name);
        END LOOP;
        EXECUTE format('ALTER TABLE %I RENAME TO %I', parent, parent || '_first');
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMMENTS) PARTITION BY RANGE (%I)',
            parent, parent || '_first', CASE parent WHEN 'history' THEN 'at' ELSE 'id' END);
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE OR TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', parent || '_append_only', parent);
    END LOOP;
    EXECUTE format('ALTER TABLE history ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (START WITH %s)', next_id);
END $$;
-- +goose StatementEnd

CREATE INDEX history_newest ON history (id DESC);
CREATE INDEX history_person ON history (actor_id, at DESC, id DESC) WHERE actor_kind = 'person' AND subject_kind = 'operation';

ALTER TABLE evidence ADD CONSTRAINT evidence_pkey PRIMARY KEY (id),
    ADD CONSTRAINT evidence_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES operations,
    ADD CONSTRAINT evidence_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES attempts;
CREATE INDEX evidence_operation ON evidence (operation_id, at);

ALTER TABLE deliveries ADD CONSTRAINT deliveries_pkey PRIMARY KEY (id),
    ADD CONSTRAINT deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES events;
CREATE INDEX deliveries_event_id ON deliveries (event_id);
CREATE INDEX deliveries_time ON deliveries (received_at DESC, id DESC);
CREATE INDEX deliveries_kind ON deliveries (source, verdict, received_at, id);
CREATE INDEX deliveries_key ON deliveries (delivery_key) WHERE delivery_key <> '';

-- +goose StatementBegin
DO $$
DECLARE
    parent text;
    coming timestamp := date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month';
BEGIN
    FOREACH parent IN ARRAY ARRAY['history', 'evidence', 'deliveries'] LOOP
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%s)', parent, parent || '_first', partition_bound(parent, coming));
        PERFORM make_partition(parent, parent || '_rest');
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I DEFAULT', parent, parent || '_rest');
    END LOOP;
END $$;
-- +goose StatementEnd

ALTER TABLE held_events ADD CONSTRAINT held_events_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES deliveries;
ALTER TABLE attachments ADD CONSTRAINT attachments_evidence_id_fkey FOREIGN KEY (evidence_id) REFERENCES evidence DEFERRABLE INITIALLY DEFERRED;

SELECT add_partitions(3);

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
