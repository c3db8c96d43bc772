package intake

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"holdpoint/operation/definition"
	"holdpoint/store"
)

// MaxItems is how many notifications one POST may hold.
const MaxItems = 1000

// Item says what became of one notification of a POST.
type Item struct {
	store.Receipt
	// No is why it was refused; nil = it was not.
	No *Refused
	// Err is our own fault: it is not stored, or not known to be.
	Err error
}

// Items is what became of a POST that held several notifications, in their order.
type Items []Item

// Unfinished reports that something is not stored: the sender must come again with all of
// it. What is stored will be found as repeated.
func (l Items) Unfinished() bool {
	for _, i := range l {
		if i.Err != nil {
			return true
		}
	}
	return false
}

// AcceptAll takes a POST that holds several notifications, each judged by itself: one
// transaction each, one delivery each, its own verdict. A broken one does not lose the
// others. What is wrong with the whole POST is a *Refused, as in Accept.
func AcceptAll(ctx context.Context, d Deps, a store.Actor, src *definition.Source, r *http.Request) (Items, store.Receipt, error) {
	k := newKnock(d, a, src, r)
	ctx, cancel := context.WithTimeout(ctx, 2*k.Patience)
	defer cancel()
	if no := k.read(); no != nil {
		rec, err := k.refuseAll(ctx, no)
		return nil, rec, err
	}
	parts, no := k.parts()
	if no != nil {
		rec, err := k.refuseAll(ctx, no)
		return nil, rec, err
	}
	if len(parts) == 0 {
		rec, err := k.ignore(ctx, part{body: k.raw.received}, &Refused{src.Answer, "empty", "the list of notifications is empty"})
		return nil, rec, err
	}
	defer k.usedSecret(ctx)
	out := make(Items, len(parts))
	for _, i := range k.order(ctx, parts) {
		out[i] = k.item(ctx, parts[i])
	}
	return out, store.Receipt{}, nil
}

func (k *knock) item(ctx context.Context, p part) Item {
	var rec store.Receipt
	var err error
	no := p.no
	if no == nil {
		no = k.unreadable(p)
	}
	if no != nil {
		rec, err = k.refuse(ctx, p, no)
	} else {
		rec, err = k.judge(ctx, p)
	}
	switch {
	case errors.As(err, &no):
		return Item{Receipt: rec, No: no}
	case err != nil:
		return Item{Err: err}
	}
	return Item{Receipt: rec}
}

// unreadable refuses a notification whose form is wrong.
func (k *knock) unreadable(p part) *Refused {
	if k.src.Kind == definition.KindCloudEvents {
		return binaryData(p.value)
	}
	return nil
}

// parts takes the body apart. Each part is exactly the bytes that stand in the body.
func (k *knock) parts() ([]part, *Refused) {
	list, err := k.src.Items(k.src.Plain(k.raw.decoded))
	var key *definition.KeyError
	switch {
	case errors.As(err, &key):
		return nil, &Refused{http.StatusBadRequest, key.Field, key.Why}
	case err != nil:
		return nil, &Refused{http.StatusBadRequest, "items", "the list of notifications cannot be read"}
	case len(list) > MaxItems:
		return nil, &Refused{http.StatusRequestEntityTooLarge, "too_many", fmt.Sprintf("one request may hold %d notifications", MaxItems)}
	}
	post, out := store.NewPostID(), make([]part, len(list))
	for i, raw := range list {
		v, no := decodeJSON(raw)
		out[i] = part{body: raw, value: v, no: no, post: post, item: i + 1}
	}
	return out, nil
}

// apart reports that a body which cannot be read as a whole is a bare list: each of its
// notifications is then judged by itself.
func (k *knock) apart(no *Refused) bool {
	return k.several && no.Status == http.StatusBadRequest && len(BareList(k.src.Plain(k.raw.decoded))) > 1
}

// order puts what is not on the record yet before what is: a sender that comes again
// after the time ran out gets further each time. Among themselves they keep their order.
func (k *knock) order(ctx context.Context, parts []part) []int {
	keys := make([]store.EventIdentity, len(parts))
	for i, p := range parts {
		if p.no != nil {
			continue
		}
		if n, err := k.src.ReadItem(k.header, k.body, p.value); err == nil {
			keys[i] = store.EventIdentity{Topic: n.Event.Topic, Key: n.Event.Key}
		}
	}
	known, err := k.Store.KnownEvents(ctx, k.src.Name, k.src.Account, keys)
	if err != nil { // it is told with the first item
		known = nil
	}
	var first, last []int
	for i := range parts {
		if known[keys[i]] {
			last = append(last, i)
		} else {
			first = append(first, i)
		}
	}
	return append(first, last...)
}

// itemAnswer is what the sender is told about one notification.
type itemAnswer struct {
	answer
	Item   int    `json:"item"`   // its place in the POST, from 1
	Status int    `json:"status"` // as if it had come alone
	Code   string `json:"code,omitempty"`
}

// itemsAnswer is the answer to a POST with several notifications; what is no success is a
// problem document besides.
type itemsAnswer struct {
	*problem
	Items []itemAnswer `json:"items"`
	// Counts are of the items, by verdict; "unfinished" are those that must come again.
	Counts map[string]int `json:"counts"`
}

// unfinished is the verdict on what is not stored, or not known to be.
const unfinished = "unfinished"

// status is what a POST with several notifications is answered with. As long as one was
// taken, it is a success: a sender that repeated it would only bring the broken one again.
func (l Items) status(answer int) int {
	if l.Unfinished() {
		return http.StatusServiceUnavailable
	}
	for _, i := range l {
		if i.No == nil {
			return answer
		}
	}
	if len(l) > 0 {
		return l[0].No.Status
	}
	return answer
}

func (l Items) answer(ok int) itemsAnswer {
	out := itemsAnswer{Items: []itemAnswer{}, Counts: map[string]int{}}
	for n, i := range l {
		a := itemAnswer{answer: answerOf(i.Receipt), Item: n + 1, Status: ok}
		switch {
		case i.Err != nil:
			a.Verdict, a.Status, a.Code = unfinished, http.StatusServiceUnavailable, "try_again"
		case i.No != nil:
			a.Status, a.Code = i.No.Status, i.No.Code
		}
		out.Counts[string(a.Verdict)]++
		out.Items = append(out.Items, a)
	}
	return out
}
