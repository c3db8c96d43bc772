package definition

import (
	"errors"
	"fmt"
	"net/url"
	"sort"
	"strconv"
	"strings"
)

// encodeForm writes a rendered object as application/x-www-form-urlencoded, nested
// objects and lists with bracket keys: metadata[k]=v, items[0][price]=p. Keys are
// sorted, so that the same content gives the same bytes. Null values are left out.
func encodeForm(t template, vars map[string]any) (string, error) {
	o, ok := t.(object)
	if !ok {
		return "", errors.New("it must be an object")
	}
	var fields []string
	for _, name := range o.names {
		v, err := o.of[name].render(vars)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err == nil && (strings.ContainsAny(name, "[]") || name == "") {
			err = fmt.Errorf("the name %q cannot stand in a form", name)
		}
		if err == nil {
			fields, err = formFields(fields, url.QueryEscape(name), v)
		}
		if err != nil {
			var of *exprError
			if !errors.As(err, &of) {
				err = &exprError{fieldsOf(o.of[name]), err}
			}
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	return strings.Join(fields, "&"), nil
}

func formFields(fields []string, key string, v any) ([]string, error) {
	var err error
	switch x := v.(type) {
	case nil:
		return fields, nil
	case map[string]any:
		for _, name := range sortedNames(x) {
			if strings.ContainsAny(name, "[]") || name == "" {
				return nil, fmt.Errorf("the name %q cannot stand in a form", name)
			}
			if fields, err = formFields(fields, key+"["+url.QueryEscape(name)+"]", x[name]); err != nil {
				return nil, err
			}
		}
		return fields, nil
	case []any:
		for i, e := range x {
			if fields, err = formFields(fields, key+"["+strconv.Itoa(i)+"]", e); err != nil {
				return nil, err
			}
		}
		return fields, nil
	}
	s, err := textOf(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return append(fields, key+"="+url.QueryEscape(s)), nil
}

func sortedNames(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	sort.Strings(names)
	return names
}
