package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"holdpoint/operation"

	"github.com/labstack/echo/v4"
)

// streamPatience is how long a large file may take to come.
const streamPatience = 10 * time.Minute

// streamRoom is how many times the limit a body may have: what is too large is read to
// its end, since a browser shows the answer only when it could send its question.
const streamRoom = 4

// PostStream reads a form that brings one file which is too large to be held in memory.
// take gets the fields that stand before the file, its name and its bytes, and may read
// them as they come; it judges the length itself, and a body of several times the limit is broken off. Fields behind the file are not read. The fields
// alone are given where no file was chosen: take is not called then. Errors are take's and
// those of PostForm; 413 where the file is larger than limit, 503 where too many such
// forms come at once.
func PostStream(c echo.Context, limit int64, take func(fields url.Values, name string, r io.Reader) error) (url.Values, error) {
	r := c.Request()
	if !isMultipart(r) {
		return PostForm(c)
	}
	var who operation.UserID
	if self := VisitOf(c).Self(); self != nil {
		who = self.ID
	}
	turn := &frameOf(c).streaming
	if err := turn.enter(r.Context(), who); err != nil {
		c.Response().Header().Set("Retry-After", "10")
		return nil, err
	}
	defer turn.leave(who)
	_ = http.NewResponseController(c.Response()).SetReadDeadline(time.Now().Add(streamPatience))
	if whole, ok := c.Get(wholeBodyKey).(io.ReadCloser); ok {
		r.Body = http.MaxBytesReader(keepOpen{c.Response()}, whole, limit*streamRoom)
	}
	u := &uploads{texts: uploadTexts, fields: url.Values{}}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, badBody(err)
	}
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return u.fields, unfit(u.fields)
		}
		if err != nil {
			return u.fields, badBody(err)
		}
		if p.FileName() == "" {
			if err := u.take(p); err != nil {
				return u.fields, badBody(err)
			}
			continue
		}
		if err := unfit(u.fields); err != nil {
			return u.fields, err
		}
		return u.fields, streamPart(p, take, u.fields)
	}
}

// streamPart hands the file on. What its reader met on the wire comes before what take
// made of it.
func streamPart(p *multipart.Part, take func(url.Values, string, io.Reader) error, fields url.Values) error {
	name := p.FileName()
	if !IsText(name) {
		name = ""
	}
	wire := &wireReader{r: p}
	err := take(fields, name, wire)
	if wire.err != nil {
		return badBody(wire.err)
	}
	_, _ = io.Copy(io.Discard, p)
	return err
}

// wireReader remembers how reading from the client failed.
type wireReader struct {
	r   io.Reader
	err error
}

// Read reads on; the end is no failure.
func (w *wireReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}
