-- One delivery of each event, some redeliveries, some refused ones.
INSERT INTO deliveries (id, source, delivery_key, event_id, verdict, reason, status, body_hash, received_at)
SELECT 'dlv_' || m.x || s.copy, p.source, 'key-' || m.g || CASE s.copy WHEN '' THEN '' ELSE '-' || s.copy END, CASE WHEN s.copy <> 'b' THEN 'evt_' || m.x END,
    CASE s.copy WHEN '' THEN 'accepted' WHEN 'a' THEN 'repeated' ELSE 'refused' END, CASE s.copy WHEN 'b' THEN 'signature: it does not fit' ELSE '' END,
    CASE s.copy WHEN 'b' THEN 401 ELSE 202 END, sha256(m.x::bytea), m.at + interval '1 second' * length(s.copy)
FROM made m JOIN pattern p USING (n) JOIN (VALUES ('', 1), ('a', 33), ('b', 50)) AS s(copy, every) ON m.g % s.every = 0;
