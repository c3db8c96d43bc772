package definition

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Text is a text for people in several languages, by language code.
type Text map[string]string

// In gives the text in a language ("pl-PL" counts as "pl"), else in English, else in
// the first language there is; "" when there is none.
func (t Text) In(lang string) string {
	base, _, _ := strings.Cut(lang, "-")
	for _, l := range []string{lang, base, "en"} {
		if s, ok := t[l]; ok {
			return s
		}
	}
	langs := make([]string, 0, len(t))
	for l := range t {
		langs = append(langs, l)
	}
	if len(langs) == 0 {
		return ""
	}
	return t[slices.Min(langs)]
}

// SecretRef says where a secret is found: an environment variable or a file. The
// value itself is never stored.
type SecretRef struct {
	Env  string `json:"env,omitempty"`
	File string `json:"file,omitempty"`
}

// IsZero reports whether no place is named.
func (r SecretRef) IsZero() bool { return r == SecretRef{} }

// Name is how people and versions name the secret: "env:NAME" or "file:PATH".
func (r SecretRef) Name() string {
	switch {
	case r.Env != "":
		return "env:" + r.Env
	case r.File != "":
		return "file:" + r.File
	}
	return ""
}

// duration is written as "72h", "2m30s" or, in whole days, "30d".
type duration time.Duration

var days = regexp.MustCompile(`^([0-9]{1,5})d$`)

// UnmarshalJSON reads the text form.
func (d *duration) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("a duration is text such as 72h")
	}
	if m := days.FindStringSubmatch(s); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return err
		}
		*d = duration(time.Duration(n) * 24 * time.Hour)
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration; write for example 30s, 2m, 72h or 30d", s)
	}
	*d = duration(v)
	return nil
}

// size is written as "256KiB", "1MiB" or a plain number of bytes.
type size int64

var sizes = regexp.MustCompile(`^([0-9]{1,9})(B|KiB|MiB)?$`)

// UnmarshalJSON reads the text form or a number.
func (z *size) UnmarshalJSON(raw []byte) error {
	m := sizes.FindStringSubmatch(strings.Trim(string(raw), `"`))
	if m == nil {
		return fmt.Errorf("%s is not a size; write for example 256KiB", raw)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return err
	}
	*z = size(n * map[string]int64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[m[2]])
	return nil
}

// rate is written as "20/s", "100/m" or "4/s burst 8".
type rate struct {
	perSecond float64
	burst     int
}

var rates = regexp.MustCompile(`^([0-9]{1,6}(?:\.[0-9]{1,3})?)/(s|m|h)(?: burst ([0-9]{1,5}))?$`)

// UnmarshalJSON reads the text form.
func (r *rate) UnmarshalJSON(raw []byte) error {
	m := rates.FindStringSubmatch(strings.Trim(string(raw), `"`))
	if m == nil {
		return fmt.Errorf("%s is not a rate; write for example 20/s or 4/s burst 8", raw)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil || n <= 0 {
		return fmt.Errorf("%s is not a rate above zero", raw)
	}
	r.perSecond = n / map[string]float64{"s": 1, "m": 60, "h": 3600}[m[2]]
	r.burst = max(1, int(math.Ceil(r.perSecond)))
	if m[3] != "" {
		r.burst, err = strconv.Atoi(m[3])
		if err != nil || r.burst < 1 {
			return fmt.Errorf("%s: the burst is at least 1", raw)
		}
	}
	return nil
}

// expression is the text of an expression field, not compiled yet. Numbers, truth
// values and plain text count as literals.
type expression struct {
	raw any
	set bool
}

// UnmarshalJSON keeps the value as written.
func (e *expression) UnmarshalJSON(raw []byte) error {
	v, err := decodeTree(raw)
	e.raw, e.set = v, err == nil
	return err
}
