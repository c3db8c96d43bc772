package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// multipartField is one field of a multipart/form-data body.
type multipartField struct{ name, value string }

// encodeMultipart writes a rendered object as multipart/form-data (RFC 7578), without
// files: one part for each field, a list as several parts of one name. Names are the
// profile's own and sorted; null values are left out. The boundary follows from names
// and values, so that the same content gives the same bytes and no value can hold it.
// A value is placed as it is: what a part is called is never read from it.
func encodeMultipart(t template, vars map[string]any) (body, contentType string, err error) {
	o, ok := t.(object)
	if !ok {
		return "", "", errors.New("it must be an object")
	}
	var fields []multipartField
	for _, name := range o.names {
		v, err := o.of[name].render(vars)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err == nil {
			fields, err = multipartFields(fields, name, v)
		}
		if err != nil {
			var of *exprError
			if !errors.As(err, &of) {
				err = &exprError{fieldsOf(o.of[name]), err}
			}
			return "", "", fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(fields) == 0 {
		return "", "", errors.New("the body would have no field")
	}
	boundary := boundaryOf(fields)
	var b strings.Builder
	for _, f := range fields {
		b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + f.name + "\"\r\n\r\n" + f.value + "\r\n")
	}
	b.WriteString("--" + boundary + "--\r\n")
	return b.String(), "multipart/form-data; boundary=" + boundary, nil
}

func multipartFields(fields []multipartField, name string, v any) ([]multipartField, error) {
	switch x := v.(type) {
	case nil:
		return fields, nil
	case []any:
		for i, e := range x {
			if _, nested := e.([]any); nested {
				return nil, errNoText
			}
			var err error
			if fields, err = multipartFields(fields, name, e); err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return fields, nil
	}
	s, err := textOf(v)
	if err != nil {
		return nil, err
	}
	return append(fields, multipartField{name, s}), nil
}

// boundaryOf gives a line that stands in no value. That it would at the first try would
// need a value that holds its own hash.
func boundaryOf(fields []multipartField) string {
	h := sha256.New()
	for _, f := range fields {
		fmt.Fprintf(h, "%d:%s%d:%s", len(f.name), f.name, len(f.value), f.value)
	}
	sum := hex.EncodeToString(h.Sum(nil)[:16])
	for n := 0; ; n++ {
		boundary := "part-" + sum + "-" + strconv.Itoa(n)
		if !holdsBoundary(fields, boundary) {
			return boundary
		}
	}
}

func holdsBoundary(fields []multipartField, boundary string) bool {
	for _, f := range fields {
		if strings.Contains(f.value, boundary) {
			return true
		}
	}
	return false
}

// checkMultipart refuses names that could end the line in which they stand.
func checkMultipart(fields map[string]any, path string, p *problems) {
	for _, name := range sortedNames(fields) {
		if name == "" || !isASCII(name) || strings.ContainsAny(name, `"\`) {
			p.add(join(path, name), "the name of a multipart field is ASCII without quotes and backslashes")
		}
	}
}
