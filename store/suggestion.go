package store

import (
	"context"
	"crypto/sha256"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// The purposes of suggestions, as the table names them.
const (
	SuggestClass  = "class"
	SuggestNote   = "note"
	SuggestReport = "report"
)

// Suggestion is what a language model suggested about an operation when a person asked.
// Nothing follows from it by itself.
type Suggestion struct {
	ID          operation.SuggestionID `db:"id"`
	Operation   operation.ID           `db:"operation_id"`
	Purpose     string                 `db:"purpose"`
	Model       string                 `db:"model"`
	Class       operation.CauseClass   `db:"class"` // "" = it suggests none
	Words       string                 `db:"words"`
	WithContent bool                   `db:"with_content"` // content of the operation was sent
	By          operation.UserID       `db:"asked_by"`
	Name        string                 `db:"name"` // of who asked
	At          time.Time              `db:"asked_at"`
	Millis      int                    `db:"millis"`
	Sent        string                 `db:"-"` // what the model was given; only its hash is kept
}

// AddSuggestion keeps a suggestion, and in the asking person's history that something was
// given to a model. It changes nothing of the operation.
func (s *Store) AddSuggestion(ctx context.Context, a Actor, n Suggestion) (operation.SuggestionID, error) {
	id := operation.SuggestionID(newID("sug"))
	sent := sha256.Sum256([]byte(n.Sent))
	err := s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.seesOperation(a, n.Operation); err != nil {
			return err
		}
		if err := t.one(`INSERT INTO suggestions (id, operation_id, purpose, model, class, words, sent_hash, with_content, asked_by, asked_at, millis)
			VALUES ($1, $2, $3, $4, NULLIF($5, ''), $6, $7, $8, $9, $10, $11)`, string(id), string(n.Operation), n.Purpose, n.Model, string(n.Class),
			short(storable(n.Words), 4000), sent[:], n.WithContent, a.ID, now, n.Millis); err != nil {
			return err
		}
		content := ""
		if n.WithContent {
			content = "yes"
		}
		return t.enter(a, now, operation.SubjectUser, a.ID, "ask_model", "", "operation", string(n.Operation), "suggestion", string(id), "purpose", n.Purpose,
			"model", n.Model, "content", content, "evidence_hash", hexOf(sent[:]))
	})
	return id, err
}

// seesOperation lets pass an active person with any role for the operation's flow. Another
// operation is not found, like a missing one.
func (t *tx) seesOperation(a Actor, id operation.ID) error {
	var flow string
	if err := t.get(&flow, `SELECT flow FROM operations WHERE id = $1`, string(id)); err != nil {
		return err
	}
	who, err := t.person(a, flow)
	if err != nil {
		return err
	}
	if !who.Active || len(who.Roles) == 0 {
		return ErrNotFound
	}
	return nil
}

// ListSuggestions gives the newest suggestions about an operation, which the caller has
// found for this viewer; suggestionRows at most.
func (s *Store) ListSuggestions(ctx context.Context, id operation.ID) ([]Suggestion, error) {
	var rows []Suggestion
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT g.id, g.operation_id, g.purpose, g.model, COALESCE(g.class, '') AS class, g.words, g.with_content, g.asked_by, u.name, g.asked_at, g.millis
			FROM suggestions g JOIN users u ON u.id = g.asked_by WHERE g.operation_id = $1 ORDER BY g.asked_at DESC, g.id DESC LIMIT $2`, string(id), suggestionRows)
	})
	return rows, err
}

const suggestionRows = 5
