package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"holdpoint/operation"
)

// maxExact is the largest integer up to which every reader of JSON agrees.
const maxExact = 1 << 53

// plain brings a decoded value to the kinds that expressions know: nil, bool, string,
// int64, float64, []any, map[string]any, time.Time. A number that a double cannot
// hold exactly becomes its text: it is never silently another number.
func plain(v any) any {
	switch x := v.(type) {
	case json.Number:
		if n := exactNumber(x.String()); n != nil {
			return n
		}
		return x.String()
	case int:
		return plain(int64(x))
	case int32:
		return int64(x)
	case int64:
		if x > maxExact || x < -maxExact {
			return strconv.FormatInt(x, 10)
		}
		return x
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = plain(e)
		}
		return out
	case []string:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = e
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[k] = plain(e)
		}
		return out
	}
	return v
}

var (
	errInexact = errors.New("a number beyond ±2^53 cannot be written exactly; make it text")
	errAbsent  = errors.New("no value")
)

// native brings an expression's result back to JSON kinds. Times become RFC 3339 in
// UTC, durations text such as "172800s". An empty optional is errAbsent.
func native(v ref.Val) (any, error) {
	switch x := v.(type) {
	case *types.Err:
		return nil, x
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(x), nil
	case types.String:
		return operation.Normalize(string(x)), nil
	case types.Int:
		if x > maxExact || x < -maxExact {
			return nil, errInexact
		}
		return int64(x), nil
	case types.Uint:
		if x > maxExact {
			return nil, errInexact
		}
		return int64(x), nil
	case types.Double:
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) || math.Abs(float64(x)) > maxExact {
			return nil, errInexact
		}
		return float64(x), nil
	case types.Timestamp:
		return x.Time.UTC().Format(time.RFC3339Nano), nil
	case types.Duration:
		return strconv.FormatFloat(x.Seconds(), 'f', -1, 64) + "s", nil
	case *types.Optional:
		if !x.HasValue() {
			return nil, errAbsent
		}
		return native(x.GetValue())
	case traits.Mapper:
		return nativeMap(x)
	case traits.Lister:
		return nativeList(x)
	}
	return nil, fmt.Errorf("a value of type %s cannot be content", v.Type().TypeName())
}

func nativeMap(m traits.Mapper) (any, error) {
	out := map[string]any{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		k := it.Next()
		key, ok := k.(types.String)
		if !ok {
			return nil, fmt.Errorf("a key of type %s cannot be content", k.Type().TypeName())
		}
		v, err := native(m.Get(k))
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out[operation.Normalize(string(key))] = v
	}
	return out, nil
}

func nativeList(l traits.Lister) (any, error) {
	out := []any{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		v, err := native(it.Next())
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// textOf gives the exact text of a scalar: what stands in a URL, a form or a key.
func textOf(v any) (string, error) {
	switch x := v.(type) {
	case string:
		return x, nil
	case bool:
		return strconv.FormatBool(x), nil
	case int64:
		return strconv.FormatInt(x, 10), nil
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64), nil
	case json.Number:
		return x.String(), nil
	case nil:
		return "", errors.New("there is no value")
	}
	return "", errors.New("a list or an object has no place in a text")
}
