package main

import (
	"fmt"
	"net/url"
	"strings"
)

// parseForm reads a form body with bracket keys: metadata[k]=v and
// items[0][price]=p become nested objects. A key that is both a value and an
// object, or that has unbalanced brackets, is refused.
func parseForm(body string) (map[string]any, url.Values, error) {
	values, err := url.ParseQuery(body)
	if err != nil {
		return nil, nil, fmt.Errorf("the body is not form-encoded: %w", err)
	}
	out := map[string]any{}
	for key, vs := range values {
		path, err := bracketPath(key)
		if err != nil {
			return nil, nil, err
		}
		if err := put(out, path, vs[len(vs)-1]); err != nil {
			return nil, nil, fmt.Errorf("parameter %s: %w", key, err)
		}
	}
	return out, values, nil
}

// bracketPath splits a[b][c] into a, b, c.
func bracketPath(key string) ([]string, error) {
	name, rest, _ := strings.Cut(key, "[")
	path := []string{name}
	if name == "" {
		return nil, fmt.Errorf("parameter %q has no name", key)
	}
	for rest != "" {
		inner, after, closed := strings.Cut(rest, "]")
		if !closed || after != "" && !strings.HasPrefix(after, "[") {
			return nil, fmt.Errorf("parameter %q has unbalanced brackets", key)
		}
		path = append(path, inner)
		rest = strings.TrimPrefix(after, "[")
	}
	return path, nil
}

func put(into map[string]any, path []string, value string) error {
	for _, name := range path[:len(path)-1] {
		next, known := into[name]
		if !known {
			next = map[string]any{}
			into[name] = next
		}
		child, ok := next.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is a value and an object at once", name)
		}
		into = child
	}
	last := path[len(path)-1]
	if _, known := into[last]; known {
		return fmt.Errorf("%s is a value and an object at once", last)
	}
	into[last] = value
	return nil
}
