-- +goose Up
-- An operation replaces one of the same stage of its run, for the same item, with a lower
-- number: a lineage has no gap and no circle, however long it is. Its place never changes.
-- +goose StatementBegin
CREATE FUNCTION operations_lineage_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'INSERT' AND EXISTS (SELECT 1 FROM operations o WHERE o.id = NEW.replaces AND o.run_id = NEW.run_id AND o.stage = NEW.stage
            AND o.item_key = NEW.item_key AND o.replacement < NEW.replacement) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'an operation replaces an earlier one of its own lineage, and keeps its place' USING ERRCODE = 'check_violation', CONSTRAINT = 'operations_lineage', TABLE = 'operations';
END $$;
-- +goose StatementEnd
CREATE TRIGGER operations_lineage BEFORE INSERT ON operations FOR EACH ROW WHEN (NEW.replaces IS NOT NULL) EXECUTE FUNCTION operations_lineage_guard();
CREATE TRIGGER operations_lineage_kept BEFORE UPDATE OF run_id, stage, item_key, replacement, replaces, deliberate ON operations FOR EACH ROW
    WHEN (OLD.run_id <> NEW.run_id OR OLD.stage <> NEW.stage OR OLD.item_key <> NEW.item_key OR OLD.replacement <> NEW.replacement
        OR OLD.replaces IS DISTINCT FROM NEW.replaces OR OLD.deliberate <> NEW.deliberate)
    EXECUTE FUNCTION operations_lineage_guard();

-- An address without characters that nobody sees (general category Cf, default ignorable,
-- variation selectors), in NFC: what addresses are compared by.
-- +goose StatementBegin
CREATE FUNCTION visible_address(address text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN address ~ '[^ -~]' THEN normalize(regexp_replace(address, '[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]', '', 'g'), NFC)
        ELSE address END
$$;
-- +goose StatementEnd

-- Suppressions that were stored before such characters were taken out match nobody any more.
-- Each is lifted, as it stands, and stored anew under its visible address, since when it held
-- and for the same reason. Of several for one address the earliest that still holds gives
-- both, and the one that holds longest the end. It can run again.
-- +goose StatementBegin
CREATE FUNCTION renew_suppressions() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    odd record;
    old suppressions%ROWTYPE;
    plain suppressions%ROWTYPE;
    ending timestamptz;
    fresh text;
    renewed bigint := 0;
BEGIN
    FOR odd IN SELECT DISTINCT regexp_replace(visible_address(s.address), '^\s+|\s+$', '', 'g') AS address, s.scope, s.channel FROM suppressions s
        WHERE s.lifted_at IS NULL AND s.address <> visible_address(s.address) ORDER BY 1, 2, 3 LOOP
        SELECT * INTO old FROM suppressions s WHERE s.lifted_at IS NULL AND s.scope = odd.scope AND s.channel = odd.channel AND regexp_replace(visible_address(s.address), '^\s+|\s+$', '', 'g') = odd.address
            ORDER BY s.until_at IS NOT NULL AND s.until_at <= now(), s.since, s.created_at, s.id LIMIT 1;
        SELECT CASE WHEN bool_or(s.until_at IS NULL) THEN NULL ELSE max(s.until_at) END INTO ending FROM suppressions s
            WHERE s.lifted_at IS NULL AND s.scope = odd.scope AND s.channel = odd.channel AND regexp_replace(visible_address(s.address), '^\s+|\s+$', '', 'g') = odd.address;
        SELECT * INTO plain FROM suppressions s WHERE s.lifted_at IS NULL AND s.scope = odd.scope AND s.channel = odd.channel AND s.address = odd.address;
        fresh := COALESCE(plain.id, 'sup_' || substr(md5(old.id || odd.address), 1, 26));
        UPDATE suppressions s SET lifted_at = now(), lifted_kind = 'system', lifted_by = 'upgrade', lifted_name = 'Holdpoint', updated_at = now(), revision = s.revision + 1,
                lifted_why = CASE odd.address WHEN '' THEN 'The address had no visible character.' ELSE 'The address had characters that nobody sees. It stands without them in the entry ' || fresh || '.' END
            WHERE s.lifted_at IS NULL AND s.scope = odd.scope AND s.channel = odd.channel AND s.address <> odd.address AND regexp_replace(visible_address(s.address), '^\s+|\s+$', '', 'g') = odd.address;
        IF odd.address = '' THEN
            CONTINUE;
        END IF;
        IF plain.id IS NULL THEN
            old.id := fresh; old.address := odd.address; old.until_at := ending; old.revision := 1; old.updated_at := now();
            INSERT INTO suppressions SELECT old.*;
        ELSE
            UPDATE suppressions s SET until_at = ending, since = old.since, reason = old.reason, note = old.note, source = old.source, operation_id = old.operation_id, added_kind = old.added_kind,
                added_by = old.added_by, added_name = old.added_name, updated_at = now(), revision = s.revision + 1 WHERE s.id = plain.id;
        END IF;
        renewed := renewed + 1;
    END LOOP;
    RETURN renewed;
END $$;
-- +goose StatementEnd
SELECT renew_suppressions();
ALTER TABLE suppressions ADD CONSTRAINT suppressions_visible CHECK (lifted_at IS NOT NULL OR address = visible_address(address));

-- The recipients of an item are compared in the same form: a list that was stored before
-- holds them as they were given.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION is_suppressed(recipients text, effect text, place text, at timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM suppressions s WHERE s.address = ANY (string_to_array(visible_address(recipients), ', ')) AND s.lifted_at IS NULL AND s.since <= at AND (s.until_at IS NULL OR s.until_at > at)
        AND (s.scope = 'all' OR s.scope = 'effect' AND s.channel = effect OR s.scope = 'destination' AND s.channel = place))
$$;
-- +goose StatementEnd

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
