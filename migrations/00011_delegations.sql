-- +goose Up
-- Approvals that one person hands to another for a time, on whose behalf an approval was
-- given, and the preset reason of a decision. Named constraints back the rules: one natural
-- person counts once for a version, and a party never decides for somebody else.

CREATE TABLE delegations (
    id         text COLLATE "C" PRIMARY KEY CONSTRAINT delegations_id_form CHECK (id LIKE 'dgn\_%'),
    from_user  text COLLATE "C" NOT NULL REFERENCES users,   -- whose approvals they are
    to_user    text COLLATE "C" NOT NULL REFERENCES users,   -- who gives them meanwhile
    roles      text[] NOT NULL CONSTRAINT delegations_roles CHECK (cardinality(roles) > 0 AND roles <@ ARRAY['approver', 'ops_owner', 'admin']),
    flows      text[] NOT NULL DEFAULT '{}',                 -- empty = every flow
    reason     text NOT NULL CONSTRAINT delegations_reason CHECK (reason <> ''),
    starts_at  timestamptz NOT NULL,
    ends_at    timestamptz NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    form_id    text NOT NULL CONSTRAINT delegations_form CHECK (form_id <> ''),
    revoked_at timestamptz,
    revoked_by text COLLATE "C" REFERENCES users,
    CONSTRAINT delegations_other CHECK (from_user <> to_user),
    CONSTRAINT delegations_own CHECK (created_by = from_user),  -- nobody hands on what is another's
    CONSTRAINT delegations_time CHECK (ends_at > starts_at AND ends_at <= starts_at + interval '366 days'),
    CONSTRAINT delegations_revoked CHECK ((revoked_at IS NULL) = (revoked_by IS NULL)),
    CONSTRAINT delegations_form_once UNIQUE (from_user, form_id),
    CONSTRAINT delegations_exact UNIQUE (id, from_user, to_user)
);
CREATE INDEX delegations_to ON delegations (to_user, ends_at) WHERE revoked_at IS NULL;

-- A delegation is taken back once; everything else of it stays as it was given.
-- +goose StatementBegin
CREATE FUNCTION delegations_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.revoked_at IS NOT NULL
       OR (NEW.id, NEW.from_user, NEW.to_user, NEW.roles, NEW.flows, NEW.reason, NEW.starts_at, NEW.ends_at, NEW.created_by, NEW.created_at, NEW.form_id)
          IS DISTINCT FROM (OLD.id, OLD.from_user, OLD.to_user, OLD.roles, OLD.flows, OLD.reason, OLD.starts_at, OLD.ends_at, OLD.created_by, OLD.created_at, OLD.form_id) THEN
        RAISE EXCEPTION 'a delegation does not change; it is taken back once' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'delegations_facts';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER delegations_facts BEFORE UPDATE OR DELETE ON delegations FOR EACH ROW EXECUTE FUNCTION delegations_guard();

ALTER TABLE approvals
    ADD COLUMN for_user      text COLLATE "C" REFERENCES users,  -- on whose behalf; NULL = their own decision
    ADD COLUMN delegation_id text COLLATE "C",
    ADD COLUMN reason_code   text NOT NULL DEFAULT '',           -- of a preset reason
    ADD COLUMN reason_words  text NOT NULL DEFAULT '',           -- the preset reason as it was shown
    ADD CONSTRAINT approvals_delegated CHECK ((for_user IS NULL) = (delegation_id IS NULL)),
    ADD CONSTRAINT approvals_delegation FOREIGN KEY (delegation_id, for_user, user_id) REFERENCES delegations (id, from_user, to_user),
    ADD CONSTRAINT approvals_preset CHECK ((reason_code = '') = (reason_words = ''));

-- Whose approvals stand on a version: the person who acted and the person acted for, each
-- by the account that stands for the natural person. One natural person stands there once,
-- in whatever capacity. A withdrawal frees both.
CREATE TABLE approval_people (
    version_id  text COLLATE "C" NOT NULL,
    round       int  NOT NULL,
    request_id  text COLLATE "C" NOT NULL DEFAULT '',
    user_id     text COLLATE "C" NOT NULL,
    approval_id text COLLATE "C" NOT NULL REFERENCES approvals,
    CONSTRAINT approval_people_once PRIMARY KEY (version_id, round, request_id, user_id)
);
CREATE INDEX approval_people_approval ON approval_people (approval_id);
INSERT INTO approval_people (version_id, round, request_id, user_id, approval_id)
SELECT a.version_id, a.round, COALESCE(a.request_id, ''), a.user_id, a.id FROM approvals a WHERE a.decision = 'approve' AND NOT EXISTS (
    SELECT 1 FROM approvals w WHERE w.version_id = a.version_id AND w.round = a.round AND w.user_id = a.user_id AND w.decision = 'withdraw' AND w.decided_at >= a.decided_at);
DROP INDEX approvals_once;
CREATE INDEX approvals_version ON approvals (version_id, user_id);

-- +goose StatementBegin
CREATE FUNCTION approvals_people() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.decision = 'approve' THEN
        INSERT INTO approval_people (version_id, round, request_id, user_id, approval_id)
        SELECT DISTINCT NEW.version_id, NEW.round, COALESCE(NEW.request_id, ''), COALESCE(u.same_as, u.id), NEW.id FROM users u WHERE u.id IN (NEW.user_id, NEW.for_user);
    ELSIF NEW.decision = 'withdraw' THEN
        DELETE FROM approval_people x USING approval_people mine
        WHERE mine.version_id = NEW.version_id AND mine.round = NEW.round AND mine.request_id = COALESCE(NEW.request_id, '')
          AND mine.user_id = (SELECT COALESCE(u.same_as, u.id) FROM users u WHERE u.id = NEW.user_id) AND x.approval_id = mine.approval_id;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER approvals_people AFTER INSERT ON approvals FOR EACH ROW EXECUTE FUNCTION approvals_people();

-- A decision for somebody else: under a delegation that is live, covers the role and the
-- flow, by and for nobody who had a part in the content or in the case.
-- +goose StatementBegin
CREATE FUNCTION approvals_for() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE flow_name text; case_no int; who text[];
BEGIN
    SELECT o.flow, o.case_round INTO flow_name, case_no FROM operations o WHERE o.id = NEW.operation_id;
    IF NOT EXISTS (SELECT 1 FROM delegations d WHERE d.id = NEW.delegation_id AND d.revoked_at IS NULL AND NEW.decided_at >= d.starts_at
        AND NEW.decided_at < d.ends_at AND NEW.role = ANY (d.roles) AND (d.flows = '{}' OR flow_name = ANY (d.flows))) THEN
        RAISE EXCEPTION 'the delegation does not cover this decision' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'approvals_delegation_live';
    END IF;
    -- every account of the two natural persons
    SELECT array_agg(u.id) INTO who FROM users u WHERE COALESCE(u.same_as, u.id) IN (SELECT COALESCE(x.same_as, x.id) FROM users x WHERE x.id IN (NEW.user_id, NEW.for_user));
    IF NEW.decision = 'approve' AND (
        EXISTS (SELECT 1 FROM content_versions v WHERE v.operation_id = NEW.operation_id AND (v.author_id = ANY (who) OR v.prompted_by = ANY (who)))
        OR EXISTS (SELECT 1 FROM submissions s WHERE s.version_id = NEW.version_id AND s.submitted_by = ANY (who))
        OR NEW.request_id IS NOT NULL AND (EXISTS (SELECT 1 FROM reexecution_requests q WHERE q.id = NEW.request_id AND q.requested_by = ANY (who))
            OR EXISTS (SELECT 1 FROM checklist_answers c WHERE c.operation_id = NEW.operation_id AND c.round = case_no AND c.user_id = ANY (who)))) THEN
        RAISE EXCEPTION 'a party decides for nobody' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'approvals_delegated_party';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER approvals_for BEFORE INSERT ON approvals FOR EACH ROW WHEN (NEW.for_user IS NOT NULL) EXECUTE FUNCTION approvals_for();

-- What became of each operation of a list that was decided together, for the page that
-- reports it. code '' = decided; else the refusal's.
CREATE TABLE decided_together (
    user_id      text COLLATE "C" NOT NULL REFERENCES users,
    form_id      text NOT NULL CONSTRAINT decided_together_form CHECK (form_id <> ''),
    operation_id text COLLATE "C" NOT NULL REFERENCES operations,
    place        int  NOT NULL,
    code         text NOT NULL,
    at           timestamptz NOT NULL,
    CONSTRAINT decided_together_once PRIMARY KEY (user_id, form_id, operation_id)
);

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
