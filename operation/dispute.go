package operation

// EffectFound gives the events by which evidence of an effect moves any state: open states
// become confirmed, states closed without effect go back to review, as disputed. While an
// operation is disputed only a person settles it: what finds or reports the effect is
// recorded as evidence for them, and moves nothing.
func EffectFound(s State, disputed bool) []Event {
	switch {
	case s == Confirmed, disputed:
		return nil
	case s.WithoutEffect():
		return []Event{EvDispute}
	}
	return []Event{EvEffect}
}

// Reports reports that evidence of this kind and result says that the effect exists: a
// lookup that found it, news of it, or a late report.
func Reports(kind, result string) bool {
	switch kind {
	case "lookup":
		return LookupResult(result) == LookupOne
	case "callback":
		return NewsKind(result).Proves()
	case "late_report":
		return result == OutcomeConfirmed.String()
	}
	return false
}

// MayBeginDispute lets the flow's reviewer, its approvers and ops owners dispute how an
// operation ended, and names all of them to anybody else.
func MayBeginDispute(reviewer Selector, who Person) *Refusal {
	if reviewer.Matches(who) || who.Has(RoleApprover) || who.Has(RoleOpsOwner) {
		return nil
	}
	return Refuse(CodeNotEntitled).ByRoles(reviewer.Role, RoleApprover, RoleOpsOwner)
}
