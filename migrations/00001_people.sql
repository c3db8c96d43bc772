-- +goose Up
-- People, their rights, sessions, API tokens, login limits, the installation itself.

CREATE TABLE installation (
    one        boolean PRIMARY KEY DEFAULT true CONSTRAINT installation_one CHECK (one),
    id         text NOT NULL,
    key_check  bytea NOT NULL,           -- HMAC of a fixed text: finds a wrong key file
    epoch      bigint NOT NULL DEFAULT 1, -- rises with every change of rights, pauses, definitions
    paused_why text NOT NULL DEFAULT '',  -- all sends are paused when not empty
    paused_by  text,
    paused_at  timestamptz,
    chain_seq  bigint NOT NULL DEFAULT 0,
    chain_hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE users (
    id            text COLLATE "C" PRIMARY KEY CONSTRAINT users_id_form CHECK (id LIKE 'usr\_%'),
    email         text NOT NULL CONSTRAINT users_email_form CHECK (email = lower(email) AND email LIKE '%_@_%'),
    name          text NOT NULL,
    locale        text NOT NULL DEFAULT '',
    zone          text NOT NULL DEFAULT '',
    password_hash text NOT NULL DEFAULT '',   -- argon2id; '' = none set
    active        boolean NOT NULL DEFAULT true,
    demo          boolean NOT NULL DEFAULT false,
    chain_seq     bigint NOT NULL DEFAULT 0,
    chain_hash    bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT users_email_key UNIQUE (email)
);

CREATE TABLE user_roles (
    user_id text COLLATE "C" NOT NULL REFERENCES users,
    role    text NOT NULL CONSTRAINT user_roles_role CHECK (role IN ('author', 'approver', 'ops_owner', 'auditor', 'admin')),
    flow    text NOT NULL DEFAULT '',   -- '' = every flow
    PRIMARY KEY (user_id, role, flow)
);

CREATE TABLE password_links (
    token_hash bytea PRIMARY KEY,
    user_id    text COLLATE "C" NOT NULL REFERENCES users,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);

CREATE TABLE sessions (
    token_hash bytea PRIMARY KEY,        -- SHA-256 of the cookie's token
    user_id    text COLLATE "C" REFERENCES users,
    data       bytea NOT NULL,
    ip         text NOT NULL DEFAULT '',
    agent      text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz
);
CREATE INDEX sessions_user ON sessions (user_id) WHERE revoked_at IS NULL;
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE api_tokens (
    id           text COLLATE "C" PRIMARY KEY,
    name         text NOT NULL CONSTRAINT api_tokens_name CHECK (name <> ''),
    token_hash   bytea NOT NULL,
    scopes       text[] NOT NULL CONSTRAINT api_tokens_scopes CHECK (scopes <@ ARRAY['events', 'operations', 'claims', 'callbacks', 'read']),
    flows        text[] NOT NULL DEFAULT '{}',         -- empty = all
    destinations text[] NOT NULL DEFAULT '{}',
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz,                          -- to the minute
    CONSTRAINT api_tokens_hash_key UNIQUE (token_hash)
);

CREATE TABLE login_counters (
    key          text PRIMARY KEY,        -- hash of the account, or an address prefix
    failures     int NOT NULL,
    window_start timestamptz NOT NULL     -- of the last failure: the back-off counts from here
);

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
