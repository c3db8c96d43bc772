-- +goose Up
-- What people attach to their evidence, to their answers of a checklist and to what they settle: screenshots and
-- documents. Facts and body are apart: the body can be erased, its facts and its hash stay.

-- The bytes and the name that the person gave the file, which may say something about a customer.
CREATE TABLE attachment_bodies (
    attachment_id text COLLATE "C" PRIMARY KEY,
    name          text NOT NULL CONSTRAINT attachment_bodies_name CHECK (length(name) <= 200),
    data          bytea NOT NULL CONSTRAINT attachment_bodies_size CHECK (length(data) BETWEEN 1 AND 10485760)
);
ALTER TABLE attachment_bodies ALTER COLUMN data SET STORAGE EXTERNAL; -- pictures are compressed already

CREATE TABLE attachments (
    id           text COLLATE "C" PRIMARY KEY CONSTRAINT attachments_id_form CHECK (id LIKE 'atc\_%'),
    operation_id text COLLATE "C" NOT NULL REFERENCES operations,
    -- What it belongs to: a statement, or an answer of the checklist. The statement is written after it, in the
    -- same transaction.
    evidence_id  text COLLATE "C" REFERENCES evidence DEFERRABLE INITIALLY DEFERRED,
    round        int,
    item         text,
    place        int NOT NULL CONSTRAINT attachments_place CHECK (place BETWEEN 1 AND 100), -- its place among those of one form
    kind         text NOT NULL CONSTRAINT attachments_kind CHECK (kind IN ('image/png', 'image/jpeg', 'image/webp', 'application/pdf')),
    size         int  NOT NULL CONSTRAINT attachments_size CHECK (size BETWEEN 1 AND 10485760),
    width        int  NOT NULL DEFAULT 0,               -- pixels; 0 for a document
    height       int  NOT NULL DEFAULT 0,
    hash         bytea NOT NULL CONSTRAINT attachments_hash CHECK (length(hash) = 32), -- SHA-256 of the bytes
    given_by     text COLLATE "C" NOT NULL REFERENCES users,
    at           timestamptz NOT NULL,
    CONSTRAINT attachments_belongs CHECK ((evidence_id IS NULL) = (item IS NOT NULL) AND (item IS NULL) = (round IS NULL)),
    CONSTRAINT attachments_pixels CHECK (CASE WHEN kind = 'application/pdf' THEN width = 0 AND height = 0
        ELSE width BETWEEN 1 AND 20000 AND height BETWEEN 1 AND 20000 AND CAST(width AS bigint) * height <= 50000000 END)
);
CREATE INDEX attachments_operation ON attachments (operation_id, at);
ALTER TABLE attachment_bodies ADD CONSTRAINT attachment_bodies_of FOREIGN KEY (attachment_id) REFERENCES attachments DEFERRABLE INITIALLY DEFERRED;

CREATE TRIGGER attachments_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON attachments EXECUTE FUNCTION refuse_change();

-- The facts are those of the bytes: the database measures and hashes them itself.
-- +goose StatementBegin
CREATE FUNCTION attachments_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM attachment_bodies b WHERE b.attachment_id = NEW.id AND length(b.data) = NEW.size AND sha256(b.data) = NEW.hash) THEN
        RAISE EXCEPTION 'these are not the facts of what is attached' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attachments_exact';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER attachments_exact BEFORE INSERT ON attachments FOR EACH ROW EXECUTE FUNCTION attachments_guard();

-- A body never changes. It can be erased once its operation is closed.
-- +goose StatementBegin
CREATE FUNCTION attachment_bodies_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' OR NOT EXISTS (SELECT 1 FROM attachments a JOIN operations o ON o.id = a.operation_id
        WHERE a.id = OLD.attachment_id AND o.state IN ('confirmed', 'rejected', 'cancelled', 'not_executed')) THEN
        RAISE EXCEPTION 'what is attached does not change, and stays until its operation is closed'
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attachment_bodies_kept';
    END IF;
    RETURN OLD;
END $$;
-- +goose StatementEnd
CREATE TRIGGER attachment_bodies_kept BEFORE UPDATE OR DELETE ON attachment_bodies FOR EACH ROW EXECUTE FUNCTION attachment_bodies_guard();
CREATE TRIGGER attachment_bodies_whole BEFORE TRUNCATE ON attachment_bodies EXECUTE FUNCTION refuse_change();

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
