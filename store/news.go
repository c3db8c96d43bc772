package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// NewsID names one piece of news from a destination: "nws_…".
type NewsID string

// NewsState says what became of a piece of news.
type NewsState string

// The states.
const (
	NewsWaiting NewsState = "waiting" // its operation is not known (yet)
	NewsTied    NewsState = "tied"
	NewsAside   NewsState = "aside" // a person, or its term, ended the waiting
)

// NewsPost is what one callback brought, its proof checked.
type NewsPost struct {
	Destination string
	Account     string            // of the profile that read it
	Entries     []definition.News // News.Item masked and cut
	Token       string            // to be taken once with one body only; "" = none
	TokenUntil  time.Time
	Body        []byte // as received
}

// ErrTokenUsed is a callback whose token came before with another body.
var ErrTokenUsed = errors.New("the token was used before with another body")

// ReceiveNews writes all entries of a callback in one transaction: from then on they are
// not lost. One that came before is counted and not written again; a unique constraint
// decides. It gives the new ones.
func (s *Store) ReceiveNews(ctx context.Context, in NewsPost) ([]NewsID, error) {
	rows, err := newsRows(in)
	if err != nil {
		return nil, err
	}
	var ids []NewsID
	err = s.write(ctx, func(t *tx) error {
		ids = nil
		if err := t.takeToken(in); err != nil {
			return err
		}
		if len(in.Entries) == 0 {
			return nil
		}
		return t.addNews(rows, len(in.Entries), &ids)
	})
	return ids, err
}

// newsJSON is one entry as newsSQL reads it.
type newsJSON struct {
	ID   NewsID             `json:"id"`
	Dest string             `json:"de"`
	Acc  string             `json:"ac"`
	Key  string             `json:"ke"`
	Kind operation.NewsKind `json:"ki"`
	Op   operation.ID       `json:"op"`
	Ref  string             `json:"re"`
	URL  string             `json:"ur"`
	Body string             `json:"bo"`
	Hash string             `json:"ha"`
	At   *time.Time         `json:"at"`
}

func newsRows(in NewsPost) (string, error) {
	rows := make([]newsJSON, len(in.Entries))
	for i, n := range in.Entries {
		sum := sha256.Sum256([]byte(n.Item))
		rows[i] = newsJSON{NewsID(newID("nws")), in.Destination, in.Account, clean(n.Key), n.Kind, n.Operation, clean(n.Reference), clean(n.URL), clean(n.Item),
			hex.EncodeToString(sum[:]), timePtr(n.At)}
	}
	return jsonText(rows)
}

const newsSQL = `INSERT INTO news (id, destination, account, news_key, kind, names, reference, url, body, body_hash, happened_at, received_at)
	SELECT n.id, n.de, n.ac, n.ke, n.ki, n.op, n.re, n.ur, n.bo, decode(n.ha, 'hex'), n.at, clock_timestamp()
	FROM jsonb_to_recordset(CAST($1 AS jsonb)) AS n(id text, de text, ac text, ke text, ki text, op text, re text, ur text, bo text, ha text, at timestamptz)
	ON CONFLICT ON CONSTRAINT news_once DO NOTHING RETURNING id`

func (t *tx) addNews(rows string, n int, ids *[]NewsID) error {
	if err := t.list(ids, newsSQL, rows); err != nil || len(*ids) == n {
		return err
	}
	fresh := make([]string, len(*ids))
	for i, id := range *ids {
		fresh[i] = string(id)
	}
	_, err := t.exec(`UPDATE news w SET repeats = w.repeats + 1 FROM (SELECT DISTINCT n.de, n.ke, n.ki, n.op, n.re
		FROM jsonb_to_recordset(CAST($1 AS jsonb)) AS n(de text, ke text, ki text, op text, re text)) n
		WHERE w.destination = n.de AND w.news_key = n.ke AND w.kind = n.ki AND w.names = n.op AND w.reference = n.re AND w.id <> ALL($2)`, rows, pq.Array(fresh))
	return err
}

// takeToken takes a token once. The same body may bring it again: a sender that heard no
// answer repeats itself.
func (t *tx) takeToken(in NewsPost) error {
	if in.Token == "" {
		return nil
	}
	token, body := sha256.Sum256([]byte(in.Token)), sha256.Sum256(in.Body)
	if _, err := t.exec(`INSERT INTO callback_tokens (destination, token_hash, body_hash, expires_at) VALUES ($1, $2, $3, $4) ON CONFLICT ON CONSTRAINT callback_tokens_once DO NOTHING`,
		in.Destination, token[:], body[:], in.TokenUntil); err != nil {
		return err
	}
	var same bool
	if err := t.get(&same, `SELECT body_hash = $3 FROM callback_tokens WHERE destination = $1 AND token_hash = $2`, in.Destination, token[:], body[:]); err != nil {
		return err
	}
	if !same {
		return ErrTokenUsed
	}
	return nil
}

// newsRow is one piece of news as the verbs read it.
type newsRow struct {
	ID          NewsID             `db:"id"`
	Destination string             `db:"destination"`
	Account     string             `db:"account"`
	Key         string             `db:"news_key"`
	Kind        operation.NewsKind `db:"kind"`
	Names       operation.ID       `db:"names"`
	Reference   string             `db:"reference"`
	URL         string             `db:"url"`
	Body        string             `db:"body"`
	HappenedAt  *time.Time         `db:"happened_at"`
	ReceivedAt  time.Time          `db:"received_at"`
	Repeats     int                `db:"repeats"`
	State       NewsState          `db:"state"`
	Operation   operation.ID       `db:"operation_id"`
	Why         string             `db:"why"`
	SettledAt   *time.Time         `db:"settled_at"`
	SettledBy   operation.UserID   `db:"settled_by"`
	Reason      string             `db:"reason"`
	FormID      string             `db:"form_id"`
}

const newsColumns = `n.id, n.destination, n.account, n.news_key, n.kind, n.names, n.reference, n.url, n.body, n.happened_at, n.received_at, n.repeats, n.state,
	COALESCE(n.operation_id, '') AS operation_id, n.why, n.settled_at, COALESCE(n.settled_by, '') AS settled_by, n.reason, n.form_id`

// newsFits joins news to the operation that it is about: the one that it names,
// else the one that has its reference; of the same destination and account only. A
// reference that several operations have fits none.
const newsFits = `SELECT n.id, COALESCE(
		(SELECT o.id FROM operations o WHERE n.names <> '' AND o.id = n.names AND o.destination = n.destination AND o.account = n.account),
		(SELECT min(o.id) FROM target_references t JOIN operations o ON o.id = t.operation_id
			WHERE n.names = '' AND n.reference <> '' AND t.account = n.account AND t.reference = n.reference AND o.destination = n.destination HAVING count(*) = 1)) AS op
	FROM `

// newsFitsWaiting is the news that may be tied at all.
const newsFitsWaiting = ` WHERE n.state = 'waiting' AND n.why = ''`

// newsNamed is the news whose IDs are given, found one by one: how much of a young table
// waits is not known to the planner, and a wrong guess is quadratic.
const newsNamed = `unnest(CAST($1 AS text[])) AS x (id) JOIN LATERAL (SELECT * FROM news WHERE id = x.id OFFSET 0) n ON true`

type newsFit struct {
	ID NewsID  `db:"id"`
	Op *string `db:"op"`
}

// TieNews ties news that waits to its operations, as far as they are known, and lets it
// act there. It gives the operations that were touched. News that cannot be tied goes on
// waiting.
func (s *Store) TieNews(ctx context.Context, a Actor, ids []NewsID) ([]operation.ID, error) {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = string(id)
	}
	return s.tieFits(ctx, a, newsFits+newsNamed+newsFitsWaiting+` ORDER BY n.received_at, n.id`, pq.Array(list))
}

func (s *Store) tieFits(ctx context.Context, a Actor, q string, args ...any) ([]operation.ID, error) {
	var fits []newsFit
	err := s.read(ctx, func(db *sqlx.DB) error {
		fits = nil
		return db.SelectContext(ctx, &fits, q, args...)
	})
	var done []operation.ID
	for _, f := range fits {
		if f.Op == nil {
			continue
		}
		if ctx.Err() != nil {
			return done, errors.Join(err, ctx.Err())
		}
		id := operation.ID(*f.Op)
		e := s.tie(ctx, a, f.ID, id)
		if e == nil {
			done = append(done, id)
			continue
		}
		err = errors.Join(err, e, s.newsStuck(ctx, f.ID, e))
	}
	return done, err
}

// tie ties one piece of news by itself.
func (s *Store) tie(ctx context.Context, a Actor, id NewsID, op operation.ID) error {
	return s.change(ctx, a, op, func(u *unit) error {
		n, err := u.lockNews(id)
		if err != nil {
			return err
		}
		if n.State != NewsWaiting {
			return errDone
		}
		if err := u.tied(n, "", ""); err != nil {
			return err
		}
		return u.told(n.callback(u.op.ID), "destination", "news", string(n.ID))
	})
}

// newsStuck keeps news that the rules refuse from being tried again and again; a person
// sees why. Other errors pass.
func (s *Store) newsStuck(ctx context.Context, id NewsID, err error) error {
	r, no := operation.RefusalIn(err)
	if !no && !errors.Is(err, ErrNotFound) {
		return nil
	}
	why := "not_found"
	if no {
		why = string(r.Code)
	}
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE news SET why = $2 WHERE id = $1 AND state = 'waiting'`, string(id), why)
		return err
	})
}

func (t *tx) lockNews(id NewsID) (n newsRow, err error) {
	err = t.get(&n, `SELECT `+newsColumns+` FROM news n WHERE n.id = $1 FOR UPDATE`, string(id))
	return n, err
}

// tied writes that news belongs to the locked operation. What it says is kept there as
// evidence, so the body goes.
func (u *unit) tied(n newsRow, form, reason string) error {
	if n.Destination != u.op.Destination || n.Account != u.op.Account {
		return ErrNotFound
	}
	return u.one(`UPDATE news SET state = 'tied', operation_id = $2, settled_at = $3, settled_by = NULLIF($4, ''), reason = $5, form_id = $6, body = '' WHERE id = $1 AND state <> 'tied'`,
		string(n.ID), string(u.op.ID), u.now, string(u.actor.UserID()), reason, form)
}

func (n newsRow) callback(op operation.ID) Callback {
	return Callback{Operation: op, Destination: n.Destination, Kind: n.Kind, Reference: n.Reference, URL: n.URL, Body: n.Body, At: timeOf(n.HappenedAt)}
}
