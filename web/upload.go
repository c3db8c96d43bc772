package web

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"

	"holdpoint/operation"

	"github.com/labstack/echo/v4"
)

// Upload is one file that a form brought, as it came.
type Upload struct {
	Field string // name of the field
	Name  string // as the person's file is called
	// Data is nil where the file was larger than is taken: Large says so.
	Data  []byte
	Large bool
}

// UploadLimits bound the files of a form, in bytes. What is larger is read to its end
// and thrown away, so that the rest of the form is not lost with it.
type UploadLimits struct {
	File  int // each of them
	All   int // together
	Count int
}

const (
	// uploadLimit bounds the whole body of a form with files, also of refused ones.
	uploadLimit = 64 << 20
	// uploadTexts bounds what is typed beside the files.
	uploadTexts = 2 << 20
	// uploadParts bounds how many fields and files one form may have.
	uploadParts = 400
	// maxName bounds the name of a field.
	maxName = 200
)

// isMultipart reports a form with files.
func isMultipart(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	return err == nil && kind == echo.MIMEMultipartForm
}

// PostFiles reads a form that may bring files, from the body of a POST alone. The files
// are held in memory: nothing of them touches a disk. Errors are those of PostForm; 503
// where too many such forms come at once.
func PostFiles(c echo.Context, limit UploadLimits) (url.Values, []Upload, error) {
	r := c.Request()
	if !isMultipart(r) {
		fields, err := PostForm(c)
		return fields, nil, err
	}
	var who operation.UserID
	if self := VisitOf(c).Self(); self != nil {
		who = self.ID
	}
	turn := &frameOf(c).uploading
	if err := turn.enter(r.Context(), who); err != nil {
		c.Response().Header().Set("Retry-After", "10")
		return nil, nil, err
	}
	defer turn.leave(who)
	if whole, ok := c.Get(wholeBodyKey).(io.ReadCloser); ok {
		r.Body = http.MaxBytesReader(keepOpen{c.Response()}, whole, uploadLimit)
	}
	u := &uploads{limit: limit, texts: uploadTexts, fields: url.Values{}}
	err := u.read(r)
	return u.fields, u.files, err
}

// readParts reads a form with files and keeps no file; it says how many there were.
func readParts(r *http.Request, texts int) (fields url.Values, files int, err error) {
	u := &uploads{texts: texts, fields: url.Values{}}
	err = u.read(r)
	return u.fields, u.seen, err
}

// uploads collects the parts of one form.
type uploads struct {
	limit  UploadLimits
	fields url.Values
	files  []Upload
	texts  int // bytes that may still be typed
	size   int // bytes of the files
	parts  int
	seen   int // files, also those that were thrown away
}

func (u *uploads) read(r *http.Request) error {
	parts, err := r.MultipartReader()
	if err != nil {
		return badBody(err)
	}
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return unfit(u.fields)
		}
		if err == nil {
			err = u.take(p)
		}
		if err != nil {
			return badBody(err)
		}
	}
}

var (
	errTooMuch = echo.NewHTTPError(http.StatusRequestEntityTooLarge)
	errUnread  = echo.NewHTTPError(http.StatusBadRequest)
)

func (u *uploads) take(p *multipart.Part) error {
	if u.parts++; u.parts > uploadParts || len(p.FormName()) > maxName {
		return errTooMuch
	}
	_, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err != nil {
		return errUnread
	}
	if _, file := params["filename"]; file {
		return u.file(p)
	}
	b, err := io.ReadAll(io.LimitReader(p, int64(u.texts)+1))
	if err != nil {
		return err
	}
	if u.texts -= len(b) + len(p.FormName()); u.texts < 0 {
		return errTooMuch
	}
	u.fields.Add(p.FormName(), string(b))
	return nil
}

// file keeps one file, or throws it away where it is more than is taken. A field in
// which nothing was chosen brings an empty one without a name.
func (u *uploads) file(p *multipart.Part) error {
	f := Upload{Field: p.FormName(), Name: p.FileName()}
	if !IsText(f.Name) {
		f.Name = ""
	}
	room := min(u.limit.File, u.limit.All-u.size)
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(p, int64(room)+1))
	if err != nil {
		return err
	}
	if n == 0 && p.FileName() == "" {
		return nil
	}
	u.seen++
	if n > int64(room) || len(u.files) >= u.limit.Count {
		b.Reset()
		if _, err := io.Copy(io.Discard, p); err != nil {
			return err
		}
		f.Large = true
	} else {
		f.Data = b.Bytes()
		u.size += int(n)
	}
	if len(u.files) <= u.limit.Count { // one more than is taken tells that there were more
		u.files = append(u.files, f)
	}
	return nil
}
