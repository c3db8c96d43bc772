package operation

// Member is one operation of a lineage.
type Member struct {
	ID         ID
	Replaces   ID    // "" = it is the original
	Number     int   // of the replacement; 0 = the original
	State      State // as it stands after the decision
	Deliberate bool  // its effect is wanted beside that of what it replaces
	// InDoubt: an attempt of it is open or not settled, or evidence contradicts it. Nobody
	// can say whether its effect exists, or will.
	InDoubt bool
}

// Lineage is an original with all its replacements and the replacements of those, however many:
// the operations of one stage of a run, for one item. Each replaces one with a lower number.
type Lineage []Member

// Of gives a member. ok is false where the lineage does not have it.
func (l Lineage) Of(id ID) (m Member, ok bool) {
	for _, m := range l {
		if m.ID == id {
			return m, true
		}
	}
	return Member{}, false
}

// wish gives the member with which it began that the effect of this one was wanted: the
// original, or a deliberate second one. Members of one wish are meant to have one effect
// together. The walk goes to lower numbers only, so it ends; ok is false where it cannot.
func (l Lineage) wish(m Member) (began ID, ok bool) {
	for m.Replaces != "" && !m.Deliberate {
		p, known := l.Of(m.Replaces)
		if !known || p.Number >= m.Number {
			return "", false
		}
		m = p
	}
	return m.ID, true
}

// oneWish reports whether two members are meant to have one effect together.
func (l Lineage) oneWish(a, b Member) bool {
	x, ok := l.wish(a)
	y, known := l.wish(b)
	return ok && known && x == y
}

// Earlier says of the members before this one which is open, so that nobody can say whether
// this one would be a second effect, and which has the effect that this one is meant to have.
// "" = none. Of several it is the newest. A lineage with a gap counts as open.
func (l Lineage) Earlier(m Member) (open, done ID) {
	if _, whole := l.wish(m); !whole {
		open = m.Replaces
	}
	at, has := -1, -1
	for _, x := range l {
		switch {
		case x.ID == m.ID || x.Number >= m.Number:
		case !x.State.Closed() && x.Number > at:
			open, at = x.ID, x.Number
		case x.State == Confirmed && x.Number > has && l.oneWish(x, m):
			done, has = x.ID, x.Number
		}
	}
	return open, done
}

// Later says of the members after this one, which it is meant to have one effect with, which
// is in doubt, and which has that effect. "" = none. Of several it is the newest. What was
// not sent yet waits for this one, and is neither.
func (l Lineage) Later(m Member) (doubt, done ID) {
	at, has := -1, -1
	for _, x := range l {
		switch {
		case x.ID == m.ID || x.Number <= m.Number || !l.oneWish(x, m):
		case x.State == Confirmed && x.Number > has:
			done, has = x.ID, x.Number
		case x.InDoubt && x.Number > at:
			doubt, at = x.ID, x.Number
		}
	}
	return doubt, done
}

// Effect gives another member that has the effect which this one is meant to have; "" = none.
func (l Lineage) Effect(m Member) ID {
	if _, done := l.Earlier(m); done != "" {
		return done
	}
	_, done := l.Later(m)
	return done
}

// Follows reports whether x comes after m and is meant to have one effect with it.
func (l Lineage) Follows(x, m Member) bool { return x.Number > m.Number && l.oneWish(x, m) }

// Original is what a new replacement of a member looks at. sent says that something of the
// line was ever sent.
func (l Lineage) Original(of ID, sent, deliberate bool) Original {
	m, _ := l.Of(of)
	_, before := l.Earlier(m)
	_, after := l.Later(m)
	o := Original{State: m.State, EffectBefore: before != "", EffectAfter: after != "", DispatchedEver: sent, Deliberate: deliberate}
	for _, x := range l {
		o.OpenReplacement = o.OpenReplacement || x.ID != m.ID && !x.State.Closed()
	}
	return o
}
