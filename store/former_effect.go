package store

// forgetDelivery takes back what was known of the delivery of an effect that was not there:
// the next effect begins anew. What was told stays in the history and the evidence.
func (u *unit) forgetDelivery() {
	o := u.op
	o.replanned = o.replanned || o.Delivery != "" || o.Remedy != "" || o.DeliverBy != nil
	o.Delivery, o.Remedy, o.DeliverBy = "", "", nil
}

// formerEffect reports that a reference names what this operation was once thought to have
// done, until a person settled it as not done: news of it is no news of the effect that came
// after.
func (u *unit) formerEffect(ref string) (former bool, err error) {
	o := u.op
	if ref == "" || !o.Stated || ref == o.TargetReference {
		return false, nil
	}
	err = u.get(&former, `SELECT EXISTS (SELECT 1 FROM target_references t JOIN history h ON h.subject_kind = 'operation' AND h.subject_id = t.operation_id AND h.at >= t.at
		WHERE t.account = $1 AND t.effect_type = $2 AND t.reference = $3 AND t.operation_id = $4 AND h.action = 'confirmed_not_done')`,
		o.Account, o.EffectType, clean(ref), string(o.ID))
	return former, err
}
