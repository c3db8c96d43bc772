package handlers

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// How much of a batch its page shows.
const (
	randomShown   = 5  // items drawn at random
	chosenShown   = 10 // items of the reader's choice
	oddShown      = 5  // rows with a problem, and rows that are left out
	changedShown  = 3  // rows of each kind of difference
	examplesShown = 3  // values of one place
	exampleChars  = 80
	placesQuoted  = 30 // places of which examples are shown
)

// batchApproved is what was, or is to be, approved: the same for all, what varies, what is
// odd, what changed, and items whole.
func (s *site) batchApproved(c echo.Context, b batchOf) (views.BatchApproved, error) {
	p, v := b.p, b.p.Version
	a := views.BatchApproved{Number: v.Number, Hash: v.HashHex(), Author: b.n.author(store.VersionRow{AuthorKind: v.AuthorKind, AuthorID: v.AuthorID, Model: v.Model}), At: v.At, Note: v.Note,
		ListName: v.ListName, ListHash: hex.EncodeToString(v.ListHash), Missing: v.Missing(), ProblemRows: v.Problems, ItemsURL: b.itemsURL(), Signatures: b.signatures(), Versions: b.versions(), ExpiresAt: timeOf(p.ExpiresAt)}
	if p.Policy != nil {
		a.Required = max(p.Policy.Required, 1)
	}
	picked, samples, err := s.batchSamples(c, b)
	if err != nil {
		return a, err
	}
	a.Samples = samples
	a.Same, a.Varies = places(v, picked)
	facts := v.Facts()
	a.Longest, a.Emptiest = pickedLine(p, picked, facts.Longest), pickedLine(p, picked, facts.Emptiest)
	if a.Problems, err = s.itemLines(c, p, store.BatchQuery{Problem: true, Limit: oddShown}, v.Problems > 0); err != nil {
		return a, err
	}
	if a.LeftOut, err = s.itemLines(c, p, store.BatchQuery{Excluded: true, Limit: oddShown}, v.Duplicates+v.Suppressed > 0); err != nil {
		return a, err
	}
	if b.waits() {
		if a.StoppedNow, err = s.Store.SuppressedToCome(c.Request().Context(), web.VisitOf(c).Actor(), p.ID); err != nil {
			return a, err
		}
	}
	a.Diff, err = s.batchDiff(c, b)
	return a, err
}

// itemLines reads the first rows that a query finds.
func (s *site) itemLines(c echo.Context, p *store.BatchPage, q store.BatchQuery, any bool) ([]views.BatchItemLine, error) {
	if !any {
		return nil, nil
	}
	q.Batch = p.ID
	list, err := s.Store.BatchItems(c.Request().Context(), web.VisitOf(c).Actor(), q)
	if err != nil {
		return nil, err
	}
	var out []views.BatchItemLine
	for _, i := range list.Items {
		out = append(out, itemLine(p, i))
	}
	return out, nil
}

// itemLine is one entry of a list.
func itemLine(p *store.BatchPage, i store.BatchItem) views.BatchItemLine {
	out := views.BatchItemLine{Position: i.Position, Key: i.Key, Recipient: i.Recipient, Title: i.Title, URL: pathItem(p.ID, max(i.Number, 1), i.Position), Excluded: i.Excluded,
		Operation: i.Operation, State: i.State, Change: i.Change, Unsent: i.Operation == "" && i.Excluded == "" && (p.Stopped() || p.State.Closed())}
	if i.Operation != "" {
		out.OpURL = pathOperation(i.Operation)
	}
	for _, x := range i.Problems() {
		out.Problems = append(out.Problems, views.BatchProblem{Code: x.Code, Field: x.Field})
	}
	return out
}

func pickedLine(p *store.BatchPage, picked map[int]store.BatchItem, at int) *views.BatchItemLine {
	i, ok := picked[at]
	if !ok {
		return nil
	}
	out := itemLine(p, i)
	for _, l := range leaves(jsonIn(i.ContentText), "") {
		out.Size += len([]rune(shownValue(l.value)))
	}
	return &out
}

// batchSamples reads the items that the reader looks at whole, and the longest and the
// emptiest beside them.
func (s *site) batchSamples(c echo.Context, b batchOf) (map[int]store.BatchItem, views.BatchSamples, error) {
	out := views.BatchSamples{Kind: views.BatchSampleKind(c.QueryParam("samples")), Chosen: c.QueryParam("rows")}
	if !slices.Contains(views.BatchSampleKinds, out.Kind) {
		out.Kind = views.SamplesRandom
	}
	for _, k := range views.BatchSampleKinds {
		out.Links = append(out.Links, views.BatchSampleLink{Kind: k, URL: "?samples=" + string(k) + "#samples", Current: k == out.Kind})
	}
	facts := b.p.Version.Facts()
	var want []int
	room := chosenShown
	switch out.Kind {
	case views.SamplesLongest:
		want = []int{facts.Longest}
	case views.SamplesEmptiest:
		want = []int{facts.Emptiest}
	case views.SamplesChosen:
		want = rowNumbers(out.Chosen, b.p.Total)
	default:
		out.Seed, room = sampleSeed(c.QueryParam("seed"), b.p.Version), randomShown
		out.Again = "?samples=random&seed=" + strings.ToLower(store.NewFormID()[:6]) + "#samples"
		want = operation.PickItems(out.Seed, 2*randomShown, b.p.Total)
	}
	list, err := s.Store.BatchPicks(c.Request().Context(), web.VisitOf(c).Actor(), b.p.ID, b.p.Number, append(append(slices.Clone(want), facts.Longest, facts.Emptiest), quoted(facts)...))
	if err != nil {
		return nil, out, err
	}
	picked := map[int]store.BatchItem{}
	for _, i := range list {
		picked[i.Position] = i
	}
	for _, at := range want {
		i, ok := picked[at]
		if !ok || len(out.Rows) >= room || out.Kind == views.SamplesRandom && i.Excluded != "" {
			continue
		}
		out.Rows = append(out.Rows, views.BatchSample{BatchItemLine: itemLine(b.p, i), Content: itemContent(b.p, i)})
	}
	out.Unknown = out.Kind == views.SamplesChosen && out.Chosen != "" && len(out.Rows) == 0
	return picked, out, nil
}

// sampleSeed is the seed of the address, else one that follows from the version alone, so
// that everybody is first shown the same items and no author chose them.
func sampleSeed(asked string, v store.BatchVersion) string {
	if asked != "" && len(asked) <= 40 {
		return asked
	}
	return hex.EncodeToString(v.ListHash)[:8]
}

// rowNumbers reads row numbers as a person types them.
func rowNumbers(text string, total int) []int {
	var out []int
	for _, x := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		n := numberIn(x)
		if n > 0 && n <= total && !slices.Contains(out, n) && len(out) < chosenShown {
			out = append(out, n)
		}
	}
	return out
}

func numberIn(x string) int {
	n, err := strconv.Atoi(x)
	if err != nil {
		return 0
	}
	return n
}

// batchDiff is what changed since the version before; nil = there is none.
func (s *site) batchDiff(c echo.Context, b batchOf) (*views.BatchDiff, error) {
	d := b.p.Version.Facts().Diff
	if d == nil || d.Against == 0 {
		return nil, nil
	}
	out := &views.BatchDiff{From: d.Against, Added: d.Added, Dropped: d.Dropped, Changed: d.Changed, Same: d.Same, ItemsURL: b.itemsURL()}
	for _, v := range b.p.Versions {
		if v.Number == d.Against {
			out.Shared = sharedChanges(v.Shared(), b.p.Version.Shared())
		}
	}
	for kind, n := range map[string]int{"changed": d.Changed, "added": d.Added, "dropped": d.Dropped} {
		lines, err := s.itemLines(c, b.p, store.BatchQuery{Diff: kind, Limit: changedShown}, n > 0)
		if err != nil {
			return nil, err
		}
		out.Lines = append(out.Lines, lines...)
	}
	slices.SortStableFunc(out.Lines, func(x, y views.BatchItemLine) int { return strings.Compare(y.Change+x.Key, x.Change+y.Key) })
	return out, nil
}

// sharedChanges are the differences of the shared text, word by word.
func sharedChanges(old, now map[string]string) []views.FieldChange {
	var out []views.FieldChange
	all := map[string]any{}
	for k := range old {
		all[k] = nil
	}
	for k := range now {
		all[k] = nil
	}
	for _, path := range ordered(all) {
		if old[path] != now[path] {
			out = append(out, views.FieldChange{Label: path, Parts: views.Diff(old[path], now[path])})
		}
	}
	return out
}

// versions lists all versions with the decisions on each, the newest first.
func (b batchOf) versions() []views.VersionLine {
	var out []views.VersionLine
	for i := len(b.p.Versions) - 1; i >= 0; i-- {
		v := b.p.Versions[i]
		line := views.VersionLine{Number: v.Number, Author: b.n.author(store.VersionRow{AuthorKind: v.AuthorKind, AuthorID: v.AuthorID, Model: v.Model}), At: v.At, Note: v.Note,
			Current: v.Number == b.p.Number, URL: b.itemsURL() + "?version=" + itoa(v.Number)}
		for _, a := range b.p.Approvals {
			if a.Number == v.Number {
				line.Decisions = append(line.Decisions, batchSignature(b.n, a))
			}
		}
		out = append(out, line)
	}
	return out
}
