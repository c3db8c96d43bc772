-- +goose Up
-- Second factors, passkeys, sign-in by a provider, and which accounts are one natural person.

-- Another account of the same natural person: separation of duties compares persons,
-- not accounts. One level only: the account that is named here names none itself.
ALTER TABLE users ADD COLUMN same_as text COLLATE "C" REFERENCES users
    CONSTRAINT users_same_as_other CHECK (same_as <> id);
CREATE INDEX users_same_as ON users (same_as) WHERE same_as IS NOT NULL;
-- +goose StatementBegin
CREATE FUNCTION users_one_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.same_as IS NOT NULL AND (EXISTS (SELECT 1 FROM users WHERE id = NEW.same_as AND same_as IS NOT NULL)
       OR EXISTS (SELECT 1 FROM users WHERE same_as = NEW.id)) THEN
        RAISE EXCEPTION 'accounts of one person name one account' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'users_same_as_one_level';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER users_same_as_one_level BEFORE INSERT OR UPDATE OF same_as ON users FOR EACH ROW EXECUTE FUNCTION users_one_person();

-- Rights that follow from the provider's groups stand beside those given by hand.
ALTER TABLE user_roles ADD COLUMN by_provider boolean NOT NULL DEFAULT false;
ALTER TABLE user_roles DROP CONSTRAINT user_roles_pkey;
ALTER TABLE user_roles ADD CONSTRAINT user_roles_pkey PRIMARY KEY (user_id, role, flow, by_provider);

-- Whoever holds one of these roles must have a second factor.
ALTER TABLE installation ADD COLUMN factor_roles text[] NOT NULL DEFAULT '{}'
    CONSTRAINT installation_factor_roles CHECK (factor_roles <@ ARRAY['author', 'approver', 'ops_owner', 'auditor', 'admin']);

-- A session in which the password was given and the second factor is still to come. It
-- is nobody's: user_id stays empty until then.
ALTER TABLE sessions ADD COLUMN pending_user text COLLATE "C" REFERENCES users;
ALTER TABLE sessions ADD CONSTRAINT sessions_pending CHECK (pending_user IS NULL OR user_id IS NULL);
CREATE INDEX sessions_pending_user ON sessions (pending_user) WHERE pending_user IS NOT NULL AND revoked_at IS NULL;

-- What a session was asked and has to answer once: a passkey's challenge, the way to the
-- provider and back.
CREATE TABLE session_challenges (
    token_hash bytea NOT NULL REFERENCES sessions ON DELETE CASCADE,
    kind       text NOT NULL CONSTRAINT session_challenges_kind CHECK (kind IN ('passkey_add', 'passkey', 'provider')),
    data       bytea NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (token_hash, kind)
);

CREATE TABLE totp_factors (
    user_id      text COLLATE "C" PRIMARY KEY REFERENCES users,
    sealed       bytea NOT NULL CONSTRAINT totp_factors_sealed CHECK (length(sealed) >= 29), -- AES-GCM under the key file
    last_step    bigint NOT NULL DEFAULT 0,   -- of the newest code that was taken: none at or before it is taken again
    confirmed_at timestamptz,                 -- NULL = being set up, asks nobody for a code
    created_at   timestamptz NOT NULL
);

CREATE TABLE recovery_codes (
    user_id   text COLLATE "C" NOT NULL REFERENCES users,
    code_hash bytea NOT NULL CONSTRAINT recovery_codes_hash CHECK (length(code_hash) = 32), -- HMAC under the key file
    used_at   timestamptz,
    made_at   timestamptz NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);

CREATE TABLE passkeys (
    id            text COLLATE "C" PRIMARY KEY CONSTRAINT passkeys_id_form CHECK (id LIKE 'psk\_%'),
    user_id       text COLLATE "C" NOT NULL REFERENCES users,
    credential_id bytea NOT NULL CONSTRAINT passkeys_credential_id CHECK (length(credential_id) BETWEEN 1 AND 1023),
    name          text NOT NULL CONSTRAINT passkeys_name CHECK (name <> ''),
    credential    text NOT NULL,              -- JSON: the whole record with all flags and its counter
    cloned_at     timestamptz,                -- the counter went back: a copy of the key may be in use
    created_at    timestamptz NOT NULL,
    used_at       timestamptz,
    CONSTRAINT passkeys_credential_key UNIQUE (credential_id)
);
CREATE INDEX passkeys_user ON passkeys (user_id);

-- Who somebody is at the provider. An account has one identity at a provider, and an
-- address that is given to somebody else there does not bring the account with it.
CREATE TABLE provider_identities (
    issuer    text NOT NULL CONSTRAINT provider_identities_issuer CHECK (issuer <> ''),
    subject   text NOT NULL CONSTRAINT provider_identities_subject CHECK (subject <> ''),
    user_id   text COLLATE "C" NOT NULL REFERENCES users,
    email     text NOT NULL DEFAULT '',
    linked_at timestamptz NOT NULL,
    used_at   timestamptz NOT NULL,
    PRIMARY KEY (issuer, subject),
    CONSTRAINT provider_identities_account UNIQUE (issuer, user_id)
);
CREATE INDEX provider_identities_user ON provider_identities (user_id);

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
