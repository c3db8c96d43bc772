package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"holdpoint/handlers/intake"
	"holdpoint/operation/definition"
	"holdpoint/store"
)

// maxHead bounds what a request says before its list.
const maxHead = 1 << 20

// batchHead is what a request says before its list.
type batchHead struct {
	Flow, Stage, RunKey, Name string
	Inputs                    map[string]any
	Shared                    map[string]string
	Author                    *Author
	Note                      *string
	Draft                     bool // rows that cannot go out do not refuse the list
}

// readBatchHead reads a request up to its list. body gives the whole request from its
// beginning, and a *definition.TableError once its list is longer than any may be.
func readBatchHead(r io.Reader) (head *batchHead, body io.Reader, err error) {
	var read bytes.Buffer
	d := json.NewDecoder(&headReader{r: io.TeeReader(r, &read)})
	if head, err = decodeHead(d); err != nil {
		return nil, nil, err
	}
	before := read.Next(int(d.InputOffset()))
	return head, io.MultiReader(bytes.NewReader(before), &itemCounter{r: io.MultiReader(&read, r)}), nil
}

// headReader ends after maxHead bytes: the list begins before that.
type headReader struct {
	r io.Reader
	n int
}

var errHead = badRequest("head", fmt.Sprintf("The items begin later than %d bytes into the body. They are the last member.", maxHead))

// Read gives little at once, so that the list stays unread.
func (h *headReader) Read(p []byte) (int, error) {
	if h.n >= maxHead {
		return 0, errHead
	}
	n, err := h.r.Read(p[:min(len(p), 4096, maxHead-h.n)])
	h.n += n
	return n, err
}

// decodeHead reads the members before the list, each once, and stops inside the list.
func decodeHead(d *json.Decoder) (*batchHead, error) {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, headFault(err, "An object is needed.")
	}
	head := &batchHead{Inputs: map[string]any{}, Shared: map[string]string{}}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, headFault(err, "")
		}
		name, _ := t.(string)
		if seen[strings.ToLower(name)] {
			return nil, badRequest("duplicate_key", "A key stands twice: "+strings.ToValidUTF8(name, "?")+".")
		}
		seen[strings.ToLower(name)] = true
		if name == "items" {
			if t, err := d.Token(); err != nil || t != json.Delim('[') {
				return nil, headFault(err, "items is a list.")
			}
			if head.Flow == "" {
				return nil, badRequest("invalid", "flow is missing; it stands before items.")
			}
			return head, nil
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, headFault(err, "")
		}
		if err := head.member(name, raw); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil { // it did not end: it was cut, or the list begins too late
		return nil, headFault(err, "")
	}
	return nil, badRequest("invalid", "items is missing.")
}

func headFault(err error, detail string) error {
	var own *fault
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &own):
		return own
	case err == nil:
		return badRequest("invalid", detail)
	case errors.As(err, &syntax), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return badRequest("syntax", "The body is no JSON object that can be read.")
	}
	return badRequest("body_cut", "The body ended early.")
}

// limits of the texts before the list, in characters.
const (
	maxNameText = 200
	maxNoteText = 2000
	maxKeyText  = 500
)

// member reads one member before the list, strictly.
func (h *batchHead) member(name string, raw json.RawMessage) error {
	v, err := definition.DecodeJSON(raw)
	if err != nil || intake.HasNUL(v) {
		return badRequest("syntax", "The member "+strings.ToValidUTF8(name, "?")+" cannot be read.")
	}
	text := func(to *string, most int) error {
		s, ok := v.(string)
		if !ok || strings.TrimSpace(s) == "" || len([]rune(s)) > most {
			return badRequest("invalid", fmt.Sprintf("%s is a text of at most %d characters.", name, most))
		}
		*to = s
		return nil
	}
	switch name {
	case "flow":
		return text(&h.Flow, maxNameText)
	case "stage":
		return text(&h.Stage, maxNameText)
	case "run_key":
		return text(&h.RunKey, maxKeyText)
	case "name":
		return text(&h.Name, maxNameText)
	case "note":
		h.Note = new(string)
		return text(h.Note, maxNoteText)
	case "problems":
		h.Draft = v == "draft"
		if v != "draft" && v != "refuse" {
			return badRequest("invalid", "problems is refuse or draft.")
		}
		return nil
	case "inputs":
		h.Inputs, err = object(raw)
		return err
	case "shared":
		return h.texts(v)
	case "author":
		return h.author(raw)
	}
	return badRequest("invalid", "There is a member that the API does not know: "+strings.ToValidUTF8(name, "?")+".")
}

func (h *batchHead) texts(v any) error {
	m, ok := v.(map[string]any)
	for path, x := range m {
		s, is := x.(string)
		ok = ok && is
		h.Shared[path] = s
	}
	if !ok {
		return badRequest("invalid", "shared holds texts by their place in the content.")
	}
	return nil
}

func (h *batchHead) author(raw json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	h.Author = &Author{}
	if err := d.Decode(h.Author); err != nil || strings.TrimSpace(h.Author.Model) == "" {
		return badRequest("invalid", "author names a model, and who prompted it.")
	}
	return nil
}

// keptReader reads what was kept. That the store could not give it says nothing of the
// request: such an error stays as it is.
type keptReader struct {
	r   io.Reader
	err error // the store's
}

// Read notes why the store gives nothing.
func (k *keptReader) Read(p []byte) (int, error) {
	n, err := k.r.Read(p)
	if err != nil && err != io.EOF {
		k.err = err
	}
	return n, err
}

// fault gives the store's error, else err.
func (k *keptReader) fault(err error) error {
	if k.err != nil {
		return k.err
	}
	return err
}

// itemsOf gives the items of a request that was kept, as often as it is asked.
func (s *server) itemsOf(ctx context.Context, l store.ListFile) iter.Seq2[map[string]any, error] {
	return itemsIn(func() io.Reader { return s.Store.ListBytes(ctx, l) })
}

// itemsIn gives the items of a request; open reads it from its beginning.
func itemsIn(open func() io.Reader) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		kept := &keptReader{r: open()}
		d := json.NewDecoder(kept)
		if _, err := decodeHead(d); err != nil {
			yield(nil, kept.fault(err))
			return
		}
		for n := 1; d.More(); n++ {
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				yield(nil, kept.fault(itemFault(err, n)))
				return
			}
			row, err := definition.ReadEntry(raw, n)
			if !yield(row.Entry, err) || err != nil {
				return
			}
		}
		for _, want := range []any{json.Delim(']'), json.Delim('}'), nil} {
			if t, err := d.Token(); want != nil && (err != nil || t != want) || want == nil && err != io.EOF {
				yield(nil, kept.fault(badRequest("syntax", "items is the last member, and nothing follows it.")))
				return
			}
		}
	}
}

func itemFault(err error, n int) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &definition.TableError{Code: "json", Line: n}
	}
	return err
}
