package operation

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

// byTheBook is the hash as its definition says: SHA-256 over the salt and RFC 8785, by a
// library that does nothing else, of what encoding/json writes.
func byTheBook(salt []byte, v any) ([32]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return [32]byte{}, err
	}
	canon, err := jcs.Transform(raw)
	return sha256.Sum256(append(bytes.Clone(salt), canon...)), err
}

// numbersByTheBook finds the numbers of a JSON value by a decoder.
func numbersByTheBook(raw json.RawMessage) error {
	if len(raw) > 0 && !json.Valid(raw) {
		return errors.New("no JSON")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if n, ok := t.(json.Number); err != nil || ok && !exact(n.String()) {
			return errors.Join(err, errors.New("not exact: "+n.String()))
		}
	}
}

// hard are pieces of text that forms of JSON treat differently.
var hard = []string{"", "a", "é", "日本", "😀", "\u2028", "\u2029", "<b>&amp;</b>", `"`, `\`, "/", "\x00", "\x01", "\x1f", "\x7f", "\b\f\n\r\t", "\uFFFD", "\uFFFE", "\uE000", "\uFB33",
	"\xff", "\xed\xa0\x80", "\u0301", `\u0061`, `\ud83d\ude00`}

func drawText(t *rapid.T, label string) string {
	if rapid.Bool().Draw(t, label+" is plain") {
		return rapid.String().Draw(t, label)
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(hard), 0, 4).Draw(t, label), "")
}

func drawRequest(t *rapid.T) Request {
	r := Request{Kind: RequestKind(drawText(t, "kind")), Method: drawText(t, "method"), URL: drawText(t, "url"), Body: drawText(t, "body"), From: drawText(t, "from")}
	for range rapid.IntRange(0, 3).Draw(t, "headers") {
		r.Header = append(r.Header, Header{drawText(t, "name"), drawText(t, "value")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "recipients") {
		r.To = append(r.To, drawText(t, "to"))
	}
	if r.To == nil && rapid.Bool().Draw(t, "nobody is a list") {
		r.To, r.Header = []string{}, append([]Header{}, r.Header...)
	}
	return r
}

// drawJSON writes a value as nobody should have to: with every escape, white space, numbers
// in any form, keys in any order, and now and then twice.
func drawJSON(t *rapid.T, depth int) string {
	space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t\r "}).Draw(t, "space") }
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind of value") {
	case 0:
		return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
	case 1:
		return drawNumber(t)
	case 2, 3:
		return drawString(t)
	case 4:
		var b strings.Builder
		for i := range rapid.IntRange(0, 4).Draw(t, "elements") {
			b.WriteString(begins(i, "") + space() + drawJSON(t, depth-1) + space())
		}
		return "[" + b.String() + space() + "]"
	default:
		var b strings.Builder
		for i := range rapid.IntRange(0, 5).Draw(t, "members") {
			b.WriteString(begins(i, "") + space() + drawString(t) + space() + ":" + drawJSON(t, depth-1) + space())
		}
		return "{" + b.String() + space() + "}"
	}
}

func drawNumber(t *rapid.T) string {
	switch rapid.IntRange(0, 4).Draw(t, "kind of number") {
	case 0:
		n, _ := json.Marshal(rapid.Int64().Draw(t, "integer"))
		return string(n)
	case 1:
		n, _ := json.Marshal(math.Float64frombits(rapid.Uint64Range(0, 0x7fe<<52).Draw(t, "bits")))
		return string(n)
	case 2:
		return rapid.StringMatching(`-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "number")
	case 3:
		return rapid.StringMatching(`-?(0|[1-9][0-9]{0,4})(\.[0-9]{1,3})?`).Draw(t, "amount")
	}
	return rapid.SampledFrom([]string{"0", "-0", "-0.0", "0e1", "-0E-5", "1e21", "1e20", "1e-6", "1e-7", "1E+2", "9007199254740992", "-9007199254740992", "9007199254740993", "999999999999999",
		"1000000000000000", "123456789012345678", "5e-324", "1.7976931348623157e308", "1e400", "-1e400", "0.1", "100.0", "4.50", "1e0"}).Draw(t, "known number")
}

func drawString(t *rapid.T) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, piece := range rapid.SliceOfN(rapid.SampledFrom(append([]string{"b", "c", "z", `\"`, `\\`, `\/`, `\b\f\n\r\t`, `\u0000`, `\u001F`, `\u0061`, `\u00e9`, `\u2028`, `\uD83D\uDE00`, `\ud800`, `\udc00`, `\ud800\u0061`, `\uffff`, `\x`}, hard...)), 0, 3).Draw(t, "string") {
		if strings.ContainsAny(piece, "\"\x00\x01\x1f\b\n") && piece != `\"` && rapid.IntRange(0, 9).Draw(t, "keep it") > 0 {
			piece = ""
		}
		b.WriteString(piece)
	}
	return b.String() + `"`
}

// TestVersionHashByTheBook: the hash of a version is what its definition says, whatever is
// in it, and what has none by the definition is refused.
func TestVersionHashByTheBook(t *testing.T) {
	t.Parallel()
	hashed, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		salt := rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(t, "salt")
		v := Version{Request: drawRequest(t), Destination: drawText(t, "destination"), Action: drawText(t, "action"),
			Account: drawText(t, "account"), Environment: drawText(t, "environment"), Credential: drawText(t, "credential")}
		if rapid.IntRange(0, 9).Draw(t, "has content") > 0 {
			v.Content = json.RawMessage(drawJSON(t, 3))
		}
		want, no := byTheBook(salt, v)
		no = errors.Join(no, v.checkText(), numbersByTheBook(v.Content))
		got, err := v.Hash(salt)
		switch {
		case (err == nil) != (no == nil):
			t.Fatalf("%q: %v, by the book: %v", v.Content, err, no)
		case err != nil:
			refused++
		case got != want:
			t.Fatalf("%q in %+v: another hash than by the book", v.Content, v)
		default:
			hashed++
		}
	})
	if hashed < 5 || refused < 5 {
		t.Errorf("%d were hashed and %d refused: the cases say too little", hashed, refused)
	}
}

// TestRequestCanonicalByTheBook: the canonical form of a request is what its definition says,
// also of bytes that are not UTF-8, which encoding/json replaces; only its hash refuses those.
func TestRequestCanonicalByTheBook(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		want, err := jcs.Transform(raw)
		if err != nil || !bytes.Equal(r.Canonical(), want) {
			t.Fatalf("%+v:\n%s\nby the book:\n%s", r, r.Canonical(), want)
		}
		h, err := r.Hash()
		if (err == nil) != (r.checkText() == nil) || err == nil && h != sha256.Sum256(want) {
			t.Fatalf("%+v: hash %x, %v", r, h, err)
		}
	})
}

// TestHashDepth: a value may be exactly as deep as by the definition.
func TestHashDepth(t *testing.T) {
	t.Parallel()
	for depth := 9990; depth <= 10002; depth++ {
		v := version(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		want, no := byTheBook(nil, v)
		if got, err := v.Hash(nil); (err == nil) != (no == nil) || err == nil && got != want {
			t.Errorf("depth %d: %v, by the book: %v", depth, err, no)
		}
	}
	for name, content := range map[string]json.RawMessage{"none": nil, "empty": {}} {
		v := version("")
		v.Content = content
		want, no := byTheBook(nil, v)
		if got, err := v.Hash(nil); (err == nil) != (no == nil) || err == nil && got != want {
			t.Errorf("%s: %v, by the book: %v", name, err, no)
		}
	}
}

// TestHashStays: what was approved years ago is known by its hash. It never changes.
func TestHashStays(t *testing.T) {
	t.Parallel()
	v := version("{\"z\":1e2,\"é\":[-0,0.1,4.50,9007199254740992,true,null],\"\U0001F600\":\"<a href=\\\"x\\\">&\\u2028\\u0000\\/</a>\",\"\uFB33\":{}, \"a\":\"\\t\"}")
	v.Request.Body = "line\r\n\x00\x7f\u2029\"\\ " + MarkHole(HoleKey)
	v.Request.To = []string{"a@example.test"}
	h, err := v.Hash([]byte("salt"))
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(h[:]); got != "88f804b16edb01a856d30e11a6458c3ecff1add8ba4361cb36e48a2e32384112" {
		t.Errorf("the version has the hash %s", got)
	}
	if h, err = v.Request.Hash(); err != nil || hex.EncodeToString(h[:]) != "cf5f87f0db02659f82b015e8c1edee7ff66fbd79d79990d40c86cd63c49db83c" {
		t.Errorf("the request has the hash %x, %v", h, err)
	}
}

func BenchmarkVersionHash(b *testing.B) {
	v := version(`{"amount":1250,"currency":"EUR","customer":"cus_000042","note":"Dear customer, we credit the amount to your account.","lines":[{"id":1,"sku":"A-1"},{"id":2,"sku":"B-7"}]}`)
	salt := make([]byte, 16)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Hash(salt); err != nil {
			b.Fatal(err)
		}
	}
}
