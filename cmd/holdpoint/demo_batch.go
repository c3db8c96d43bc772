package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
)

// demoRecipients are the rows of the demonstration's list: 200 people, some of them twice,
// one without a name.
const demoRecipients = 200

// demoSuppressed asked not to be written to.
const demoSuppressed = "olga.nowak@customer.test"

var (
	demoFirst = []string{"Anna", "Ben", "Clara", "Daisuke", "Ewa", "Felix", "Grace", "Hiro", "Irena", "Jonas"}
	demoLast  = []string{"Adams", "Braun", "Costa", "Dudek", "Endo", "Fischer", "Garcia", "Horvat", "Ito", "Jensen", "Kowalska", "Laurent", "Mori", "Nowak", "Okafor", "Perez", "Quinn", "Rossi", "Sato", "Tanaka"}
)

// demoList is the list of the spring mailing. It is the same at every start.
func demoList() store.List {
	return store.List{Name: "spring-recipients.csv", Rows: func(yield func(map[string]any, error) bool) {
		for i := range demoRecipients {
			if !yield(demoRow(i), nil) {
				return
			}
		}
	}}
}

// demoRow is one row; rows 41, 97 and 160 repeat earlier ones, row 58 is suppressed, row 123
// has no name.
func demoRow(i int) map[string]any {
	switch i + 1 {
	case 41, 97, 160:
		e := demoRow(i - 17)
		e["email"] = strings.ToUpper(e["email"].(string)[:1]) + e["email"].(string)[1:] // as people write it the second time
		return e
	case 58:
		return map[string]any{"email": demoSuppressed, "greeting": "Dear Olga", "name": "Olga Nowak"}
	case 123:
		return map[string]any{"email": "info@flower-market.test", "greeting": "Good day", "name": ""}
	}
	first, last := demoFirst[i%len(demoFirst)], demoLast[(i/len(demoFirst))%len(demoLast)]
	return map[string]any{"email": strings.ToLower(first+"."+last) + "@customer.test", "greeting": "Dear " + first, "name": first + " " + last}
}

// demoBatch hands the list of the spring mailing in, as the author would, so that a batch
// waits for approval. Repeated at the next start, it makes nothing anew.
func demoBatch(ctx context.Context, st *store.Store) error {
	_, err := st.AddSuppressions(ctx, store.System("command"), store.Suppressing{FormID: "demo-suppression"},
		[]store.NewSuppression{{Address: demoSuppressed, Reason: operation.SuppressedUnsubscribed}})
	u, found := st.FindUserByEmail(ctx, "author@example.test")
	if err = errors.Join(err, found); err != nil {
		return fmt.Errorf("demo list: %w", err)
	}
	_, _, err = st.CreateBatchRun(ctx, store.Person(u.ID, u.Name, "web"), store.NewBatchRun{Flow: "spring-mailing", RunKey: "demo-spring-mailing", FormID: "demo-spring-mailing",
		Inputs: map[string]any{"season": "spring"}, Lists: map[string]store.List{"recipients": demoList()},
		Shared: map[string]map[string]string{"mail": {"subject": "Spring has come to the demo shop",
			"text": "{{greeting}},\n\nthe spring collection is here: seeds, bulbs and the first tulips. Come and see it until the end of the month.\n\nYour demo shop\n\nYou get this mail because you asked for our letters. A short answer is enough, and we stop."}}})
	return err
}
