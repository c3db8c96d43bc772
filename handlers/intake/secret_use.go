package intake

import (
	"context"
	"sync"
	"time"

	"holdpoint/store"
)

// secretUses throttles how often the use of a secret is written down.
type secretUses struct {
	mu sync.Mutex
	at map[secretUse]time.Time
}

// secretUse is one reference of a source of one record.
type secretUse struct {
	record            *store.Store
	source, reference string
}

// used is this process's.
var used secretUses

// secretUseEvery is how exact the record of a secret's last use is.
const secretUseEvery = time.Minute

func (u *secretUses) due(key secretUse, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if at, ok := u.at[key]; ok && now.Sub(at).Abs() < secretUseEvery {
		return false
	}
	if u.at == nil || len(u.at) > 10_000 {
		u.at = map[secretUse]time.Time{}
	}
	u.at[key] = now
	return true
}

func (u *secretUses) forget(key secretUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.at, key)
}

// usedSecret notes that a secret fitted, at most once a minute in each process: it is to
// be seen which one can be removed, and no delivery should wait for that.
func (k *knock) usedSecret(ctx context.Context) {
	key := secretUse{k.Store, k.src.Name, k.checked.secret}
	if key.reference == "" || !used.due(key, k.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := k.Store.NoteSecretUse(ctx, key.source, key.reference); err != nil {
		used.forget(key)
		k.Log.Warn("use of a secret is not noted", "source", k.src.Name, "secret", key.reference, "error", err)
	}
}
