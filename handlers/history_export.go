package handlers

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views/text"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// The history as files; they take the page's filters.
const (
	pathHistoryCSV   = "/history/export.csv"
	pathHistoryLines = "/history/export.jsonl" // ?content=yes adds what was approved and sent
)

// exportIdle is for how long a reader of an export may take nothing of it.
const exportIdle = 2 * time.Minute

// historyColumns are the columns of the CSV file. The names and the codes in it are
// stable; docs/history.md says what they mean.
var historyColumns = []string{"id", "at", "actor_kind", "actor", "actor_name", "role", "on_behalf_of", "channel", "action", "from", "to", "reason", "subject_kind", "subject",
	"seq", "flow", "destination", "version", "policy", "evidence", "links", "prev", "hash", "words_removed"}

// outgoing is a file on its way: it counts and hashes what is written. What is still in
// its buffer when the file breaks off never leaves.
type outgoing struct {
	buf  *bufio.Writer
	sum  hash.Hash
	rows int64
}

func newOutgoing(res *echo.Response) *outgoing {
	return &outgoing{buf: bufio.NewWriterSize(patient{res, http.NewResponseController(res)}, 32<<10), sum: sha256.New()}
}

// Write hashes and buffers.
func (o *outgoing) Write(b []byte) (int, error) {
	o.sum.Write(b)
	return o.buf.Write(b)
}

// patient lets a reader go who takes nothing for a while.
type patient struct {
	res *echo.Response
	ctl *http.ResponseController
}

func (p patient) Write(b []byte) (int, error) {
	_ = p.ctl.SetWriteDeadline(time.Now().Add(exportIdle)) // a connection without deadlines has none to move
	return p.res.Write(b)
}

// exporting runs one export: it is recorded before its first byte, and its end, with the
// number of rows and the hash of the file, before its last. A file that breaks off is cut
// off as a broken download; it never ends like a whole one.
func (s *site) exporting(c echo.Context, x store.Export, write func(*outgoing) error) error {
	ctx, a := c.Request().Context(), web.VisitOf(c).Actor()
	if err := s.Store.BeginExport(ctx, a, x); err != nil {
		return err
	}
	o := newOutgoing(c.Response())
	err := write(o)
	if err == nil {
		err = s.Store.EndExport(ctx, a, x, o.rows, hex.EncodeToString(o.sum.Sum(nil)), false)
	} else {
		s.cutOff(ctx, a, x, o.rows)
	}
	if err == nil {
		err = o.buf.Flush()
	}
	if err != nil && c.Response().Committed {
		s.Log.Warn("export ended early", "id", web.RequestID(c), "rows", o.rows, "err", err)
		panic(http.ErrAbortHandler) // a download that fails, not a file that looks whole
	}
	return err
}

// exportDocument runs the export of one document that is made already.
func (s *site) exportDocument(c echo.Context, x store.Export, kind, name string, body []byte) error {
	return s.exporting(c, x, func(o *outgoing) error {
		h := c.Response().Header()
		h.Set(echo.HeaderContentType, kind)
		h.Set(echo.HeaderContentDisposition, `attachment; filename="`+name+`"`)
		c.Response().WriteHeader(http.StatusOK)
		o.rows = 1
		_, err := o.Write(body)
		return err
	})
}

// cutOff records that an export broke off; its reader may be gone by now.
func (s *site) cutOff(ctx context.Context, a store.Actor, x store.Export, rows int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.Store.EndExport(ctx, a, x, rows, "", true); err != nil {
		s.Log.Warn("the end of an export is not recorded", "rows", rows, "err", err)
	}
}

// fileHead begins a file that is to be saved.
func fileHead(c echo.Context, kind, name, ending string) {
	day := time.Now().In(web.VisitOf(c).Printer().Zone).Format(time.DateOnly)
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, kind)
	h.Set(echo.HeaderContentDisposition, `attachment; filename="holdpoint-`+name+`-`+day+ending+`"`)
	c.Response().WriteHeader(http.StatusOK)
}

// historyCSV writes the filtered history as CSV, oldest first.
func (s *site) historyCSV(c echo.Context) error {
	q := c.QueryParams()
	f := historyFilter(q, web.VisitOf(c))
	return s.exporting(c, store.Export{What: "history", Format: "csv", Filter: historyQuery(q)}, func(o *outgoing) error {
		w := csv.NewWriter(o)
		begin := func(*store.HistoryExport) error {
			fileHead(c, "text/csv; charset=utf-8; header=present", "history", ".csv")
			if _, err := o.Write([]byte(byteOrderMark)); err != nil {
				return err
			}
			return w.Write(historyColumns)
		}
		err := s.Store.ExportHistory(c.Request().Context(), web.VisitOf(c).Actor(), f, begin, func(e store.FoundEntry) error {
			o.rows++
			return w.Write(historyCells(e, web.VisitOf(c).Printer()))
		})
		w.Flush()
		return errors.Join(err, w.Error())
	})
}

// historyCells are the cells of one entry. Where its words were removed under a term, the
// place of the reason says so, and the last column when.
func historyCells(e store.FoundEntry, p *text.Printer) []string {
	links, reason, removed := e.Links(), e.Reason, ""
	if at := e.WordsGone(); !at.IsZero() {
		reason, removed = p.T("keeping_history.gone", "At", p.Date(at)), at.Format(operation.TimeForm)
	}
	row := []string{strconv.FormatInt(e.ID, 10), e.At.UTC().Format(operation.TimeForm), string(e.ActorKind), e.ActorID, e.ActorName, string(e.Role), links["for_name"], e.Channel, e.Action,
		string(e.From), string(e.To), reason, string(e.SubjectKind), e.SubjectID, strconv.FormatInt(e.Seq, 10), e.Flow, e.Destination, string(e.VersionID), links["policy"],
		e.EvidenceHash, e.LinksText, hex.EncodeToString(e.PrevHash), hex.EncodeToString(e.Hash), removed}
	for i, cell := range row {
		row[i] = guarded(cell)
	}
	return row
}

// historyLines writes the filtered history as JSON Lines, oldest first and exactly as it
// is recorded. Its last line says how many entries there are and what the lines before
// hash to: a file without it is not whole.
func (s *site) historyLines(c echo.Context) error {
	q := c.QueryParams()
	x := store.Export{What: "history", Format: "jsonl", Filter: historyQuery(q), Content: q.Get("content") == "yes"}
	f := historyFilter(q, web.VisitOf(c))
	return s.exporting(c, x, func(o *outgoing) error {
		l := lineWriter{o: o, content: x.Content, lines: sha256.New()}
		begin := func(at *store.HistoryExport) error {
			l.from = at
			fileHead(c, "application/jsonl; charset=utf-8", "history", ".jsonl")
			return nil
		}
		if err := s.Store.ExportHistory(c.Request().Context(), web.VisitOf(c).Actor(), f, begin, l.entry); err != nil {
			return err
		}
		return l.trailer(x)
	})
}

// lineWriter writes the lines of one file.
type lineWriter struct {
	o       *outgoing
	content bool
	from    *store.HistoryExport
	lines   hash.Hash // of all lines so far
	buf     []byte
	body    int64 // lines that are no entries
}

func (l *lineWriter) write(line []byte) error {
	l.lines.Write(line)
	_, err := l.o.Write(line)
	return err
}

func (l *lineWriter) object(v any) error {
	line, err := exactJSON(v)
	if err != nil {
		return err
	}
	l.body++
	return l.write(line)
}

func (l *lineWriter) entry(e store.FoundEntry) (err error) {
	if l.buf, err = e.Line().AppendLine(l.buf[:0]); err != nil {
		return err
	}
	l.o.rows++
	if err := l.write(l.buf); err != nil || !l.content || e.SubjectKind != operation.SubjectOperation {
		return err
	}
	return l.bodies(e)
}

// bodyLine is what a version held or an attempt sent, after the entry that made it.
type bodyLine struct {
	Body struct {
		Operation operation.ID        `json:"operation"`
		Version   operation.VersionID `json:"version"`
		Attempt   operation.AttemptID `json:"attempt,omitempty"`
		Content   *string             `json:"content,omitempty"` // JSON text, as it is stored
		Request   *string             `json:"request,omitempty"` // likewise; of an attempt: as it left
		Salt      string              `json:"salt,omitempty"`    // hexadecimal
		Hash      string              `json:"hash"`              // hexadecimal; "" = the version was incomplete
		Erased    bool                `json:"erased"`
	} `json:"body"`
}

// bodies writes what the entry brought: a version's content and request, or the request
// that an attempt sent. What was erased is said to be, with the hash that stays.
func (l *lineWriter) bodies(e store.FoundEntry) error {
	switch e.Action {
	case "create", "new_version":
		v, err := l.from.Version(e.VersionID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		var line bodyLine
		b := &line.Body
		b.Operation, b.Version, b.Hash, b.Erased = v.Operation, v.Version, store.HexOf(v.Hash), v.Erased
		if !v.Erased {
			b.Content, b.Request, b.Salt = &v.Content, &v.Request, store.HexOf(v.Salt)
		}
		return l.object(line)
	case "dispatch":
		a, err := l.from.Attempt(operation.AttemptID(e.Links()["attempt"]))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		var line bodyLine
		b := &line.Body
		b.Operation, b.Version, b.Attempt, b.Hash, b.Erased = a.Operation, a.Version, a.Attempt, store.HexOf(a.Hash), a.Erased
		if !a.Erased {
			b.Request = &a.Resolved
		}
		return l.object(line)
	}
	return nil
}

// trailerLine is the last line of a whole file.
type trailerLine struct {
	Trailer struct {
		Entries int64  `json:"entries"`
		Bodies  int64  `json:"bodies"`
		SHA256  string `json:"sha256"` // of all bytes before this line
		At      string `json:"at"`     // of the snapshot
		Filter  string `json:"filter"` // as a query; with rights=part where the exporter may not see everything
	} `json:"trailer"`
}

func (l *lineWriter) trailer(x store.Export) error {
	var t trailerLine
	t.Trailer.Entries, t.Trailer.Bodies, t.Trailer.SHA256 = l.o.rows, l.body, hex.EncodeToString(l.lines.Sum(nil))
	t.Trailer.At, t.Trailer.Filter = l.from.At.UTC().Format(operation.TimeForm), x.Filter
	if !l.from.Whole() {
		t.Trailer.Filter = strings.TrimPrefix(x.Filter+"&rights=part", "&")
	}
	line, err := exactJSON(t)
	if err != nil {
		return err
	}
	_, err = l.o.Write(line)
	return err
}

// exactJSON writes one object on one line; <, > and & stand as they are.
func exactJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
