package api

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"holdpoint/operation/definition"
	"holdpoint/store"
)

// What the store could not give is no fault of the request, wherever it breaks off: the error
// stays the store's. What ends early by itself is the request's.
func TestItemsIn_StoreFails(t *testing.T) {
	t.Parallel()
	const body = `{"flow":"mailing","inputs":{"season":"spring"},"items":[{"email":"a@example.test"},{"email":"b@example.test"}]}`
	for _, cause := range []error{&store.Unavailable{Cause: io.EOF}, &store.Unavailable{Cause: io.ErrUnexpectedEOF}, store.ErrListEnded, context.Canceled} {
		for n := range len(body) + 1 {
			open := func() io.Reader { return io.MultiReader(strings.NewReader(body[:n]), iotest.ErrReader(cause)) }
			if err := lastError(open); err != cause {
				t.Errorf("%v after %d bytes: %v", cause, n, err)
			}
		}
	}
	for n := range len(body) {
		err := lastError(func() io.Reader { return strings.NewReader(body[:n]) })
		var own *fault
		if err = listFault(err); !errors.As(err, &own) || own.status != 400 {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
}

// Only what stands between the items counts, and only of the list: neither what is inside an
// item, nor inside a text, nor inputs before the list.
func TestItemCounter(t *testing.T) {
	t.Parallel()
	const item = `{"a":[1,2,"x,\\\",]}"],"b":{"c":1,"d":"]"}},`
	for more, want := range map[int]string{0: "", 1: "rows"} {
		whole := `{"flow":"mailing","inputs":{"x":[` + strings.Repeat("1,", 9) + `1]},"items":[` + strings.Repeat(item, definition.MaxListItems-1+more) + `{}], "x": [` + strings.Repeat("1,", 9) + `1]}`
		_, body, err := readBatchHead(iotest.HalfReader(strings.NewReader(whole)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		var bad *definition.TableError
		if errors.As(err, &bad); bad != nil && bad.Code != want || bad == nil && (want != "" || string(got) != whole || err != nil) {
			t.Errorf("%d more than a list may have: %v", more, err)
		}
	}
}

func lastError(open func() io.Reader) (last error) {
	for _, err := range itemsIn(open) {
		last = err
	}
	return last
}
