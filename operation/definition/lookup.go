package definition

import (
	"errors"
	"fmt"

	"holdpoint/operation"
)

var errNoReference = errors.New("it is empty, too long, or holds blanks or control characters")

// Codes of a lookup's proof.
const (
	CodeLookupAnswered   = "lookup_answered"
	CodeLookupIncomplete = "lookup_incomplete" // more pages follow and none was asked
	CodeLookupUnreadable = "lookup_unreadable" // no documented answer
)

// Link is a place where a person can look for themselves.
type Link struct {
	Text Text
	URL  string
}

// LookupRequest gives the request that asks whether the effect exists, all holes
// filled. It holds no credentials.
func (a *Action) LookupRequest(in Context, env Env) (operation.Request, error) {
	if a.lookup == nil {
		return operation.Request{}, fmt.Errorf("action %s of %s has no lookup", a.Name, a.profile.Destination)
	}
	base, err := a.profile.Base(env)
	if err != nil {
		return operation.Request{}, err
	}
	vars := in.variables(Answer{})
	req, err := a.lookup.request.render(base, vars, protection{})
	if err != nil {
		return operation.Request{}, fmt.Errorf("lookup: %w", err)
	}
	return req.Resolve(map[string]string{operation.HoleOperationID: in.OperationID, operation.HoleKey: in.Key})
}

// ReadLookup reads the answer to a lookup. One needs a match by our own reference
// that fits; a match that does not fit or cannot be compared, or by anything else, is a
// mismatch: a candidate for a person. None needs a documented answer; it is never a proof.
// Everything else is unreachable.
func (a *Action) ReadLookup(in Context, ans Answer) operation.LookupFinding {
	f := operation.LookupFinding{Result: operation.LookupUnreachable, Proof: operation.Proof{Status: ans.Status, Code: CodeLookupUnreadable}}
	l := a.lookup
	if l == nil || ans.Truncated {
		return f
	}
	f.Matched = l.by
	vars := in.variables(ans)
	if err := l.read(&f, vars, ans.Status, in.Env); err != nil {
		f.Result, f.ID, f.URL, f.Found = operation.LookupUnreachable, "", "", nil
		f.Proof.Detail = err.Error()
	}
	if f.Result == operation.LookupUnreachable || f.Result == operation.LookupNone {
		f.Matched = ""
	}
	return f
}

// read fills the finding. An error means that the answer could not be read.
func (l *lookup) read(f *operation.LookupFinding, vars map[string]any, status int, env Env) error {
	if l.none != nil {
		none, err := l.none.holds(vars)
		if err != nil {
			return err
		}
		if none {
			f.Result, f.Proof.Code = operation.LookupNone, CodeLookupAnswered
			return nil
		}
	}
	answered := status >= 200 && status < 300
	if l.answered != nil {
		var err error
		if answered, err = l.answered.holds(vars); err != nil {
			return err
		}
	}
	if !answered {
		return nil
	}
	switch vars["body"].(type) {
	case map[string]any, []any:
	default:
		// has() and .? are quietly false for text: a log-in page must not read as a miss.
		return errors.New("the answer is neither a JSON object nor a list")
	}
	matches, err := l.matches(vars)
	if err != nil {
		return err
	}
	f.Proof.Code = CodeLookupAnswered
	switch len(matches) {
	case 0:
		return l.nothing(f, vars)
	case 1:
		return l.found(f, vars, matches[0], env)
	}
	f.Result = operation.LookupMany
	for _, m := range matches {
		vars["match"] = m
		id, err := referenceText(l.id, vars)
		if err != nil {
			return err
		}
		f.Found = append(f.Found, operation.Found{ID: id, URL: linkText(l.url, vars, env)})
	}
	return nil
}

// nothing follows when no entry matched: a miss, unless more pages were not read.
func (l *lookup) nothing(f *operation.LookupFinding, vars map[string]any) error {
	if l.more != nil {
		more, err := l.more.holds(vars)
		if err != nil {
			return err
		}
		if more {
			f.Proof.Code = CodeLookupIncomplete
			f.Proof.Detail = "More pages follow; what was read holds no match."
			return nil
		}
	}
	f.Result = operation.LookupNone
	return nil
}

func (l *lookup) found(f *operation.LookupFinding, vars map[string]any, match any, env Env) error {
	vars["match"] = match
	id, err := referenceText(l.id, vars)
	if err != nil {
		return fmt.Errorf("the found entry holds no usable reference: %w", err)
	}
	fits, unsaid := true, error(nil)
	if l.fits != nil {
		fits, unsaid = l.fits.holds(vars)
	}
	f.ID, f.URL = id, linkText(l.url, vars, env)
	switch {
	case l.by == "":
		f.Result = operation.LookupMismatch
		f.Proof.Detail = "The entry was not found by a reference of ours; it is only a candidate."
	case unsaid != nil: // of a draft above all, whose content is not written yet
		f.Result = operation.LookupMismatch
		f.Proof.Detail = "The entry holds our reference, and it cannot be compared with what is here: " + unsaid.Error()
	case !fits:
		f.Result = operation.LookupMismatch
		f.Proof.Detail = "The entry holds our reference, but not what was sent."
	default:
		f.Result = operation.LookupOne
	}
	return nil
}

// matches evaluates the match rule: a list gives its entries, null or an empty
// optional none, anything else is the one entry.
func (l *lookup) matches(vars map[string]any) ([]any, error) {
	v, err := l.match.value(vars)
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case nil:
		return nil, nil
	case []any:
		return x, nil
	case map[string]any:
		return []any{x}, nil
	}
	return nil, errors.New("match gives neither an entry nor a list of entries")
}

// LookYourself gives the links where a person can look, those that can be built.
func (a *Action) LookYourself(in Context) []Link {
	vars := in.variables(Answer{})
	var out []Link
	for _, l := range a.links {
		if u := linkText(l.url, vars, in.Env); u != "" {
			out = append(out, Link{Text: l.text, URL: u})
		}
	}
	return out
}
