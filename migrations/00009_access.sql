-- +goose Up
-- Who may: invitations, when a session last proved its person, sign-ins, and the rules
-- about rights that the database backs on its own.

-- When the person last proved who they are in this session: re-executions and changes of
-- access ask for it anew after a while. rotate: the rights have changed, the next request
-- gets a new token.
ALTER TABLE sessions ADD COLUMN authenticated_at timestamptz;
ALTER TABLE sessions ADD COLUMN rotate boolean NOT NULL DEFAULT false;
UPDATE sessions SET authenticated_at = created_at WHERE user_id IS NOT NULL;
CREATE INDEX sessions_person ON sessions (user_id);
ALTER TABLE sessions ADD CONSTRAINT sessions_authenticated CHECK ((user_id IS NULL) = (authenticated_at IS NULL));

-- A link sets the password of an account that has one, or is the invitation to one.
ALTER TABLE password_links ADD COLUMN kind text NOT NULL DEFAULT 'password' CONSTRAINT password_links_kind CHECK (kind IN ('password', 'invitation'));
ALTER TABLE password_links ADD COLUMN created_by text NOT NULL DEFAULT 'system';
ALTER TABLE password_links ADD COLUMN created_at timestamptz NOT NULL DEFAULT clock_timestamp();
UPDATE password_links l SET used_at = clock_timestamp() WHERE used_at IS NULL AND EXISTS (SELECT 1 FROM password_links n
    WHERE n.user_id = l.user_id AND n.used_at IS NULL AND (n.expires_at, n.token_hash) > (l.expires_at, l.token_hash));
CREATE UNIQUE INDEX password_links_one_open ON password_links (user_id) WHERE used_at IS NULL;

-- Nobody gives themselves a right, whatever the program says.
ALTER TABLE user_roles ADD COLUMN granted_by text NOT NULL DEFAULT 'system';
ALTER TABLE user_roles ADD COLUMN granted_at timestamptz NOT NULL DEFAULT clock_timestamp();
ALTER TABLE user_roles ADD CONSTRAINT user_roles_not_own CHECK (granted_by <> user_id);

-- The last active administrator keeps the role and the account.
-- +goose StatementBegin
CREATE FUNCTION keep_an_admin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM users u JOIN user_roles r ON r.user_id = u.id WHERE u.active AND r.role = 'admin' AND r.flow = '') THEN
        RAISE EXCEPTION 'somebody must manage people' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'users_last_admin';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER user_roles_last_admin AFTER DELETE ON user_roles FOR EACH ROW
    WHEN (OLD.role = 'admin' AND OLD.flow = '') EXECUTE FUNCTION keep_an_admin();
CREATE TRIGGER users_last_admin AFTER UPDATE OF active ON users FOR EACH ROW
    WHEN (OLD.active AND NOT NEW.active) EXECUTE FUNCTION keep_an_admin();

-- One press of the button makes one token.
ALTER TABLE api_tokens ADD COLUMN form_id text NOT NULL DEFAULT '';
CREATE UNIQUE INDEX api_tokens_once ON api_tokens (created_by, form_id) WHERE form_id <> '';

-- Sign-ins and failed tries, by the hash of the account that was named: the table does
-- not say which accounts exist. Kept for 90 days.
CREATE TABLE sign_ins (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account text NOT NULL,
    user_id text COLLATE "C" REFERENCES users,      -- of a sign-in; NULL = a failed try
    how     text NOT NULL CONSTRAINT sign_ins_how CHECK (how IN ('password', 'code', 'recovery', 'passkey', 'provider')),
    ip      text NOT NULL DEFAULT '',
    agent   text NOT NULL DEFAULT '',
    at      timestamptz NOT NULL
);
CREATE INDEX sign_ins_account ON sign_ins (account, at DESC);
CREATE INDEX sign_ins_at ON sign_ins (at);

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
