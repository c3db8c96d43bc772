package operation

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func intents() *rapid.Generator[Intent] {
	word := rapid.SampledFrom([]string{"", "a", "b", "ab", "a\x00", "crm-task"})
	return rapid.Custom(func(t *rapid.T) Intent {
		return Intent{Flow: word.Draw(t, "flow"), RunKeyHash: HashRunKey(word.Draw(t, "flow of run"), word.Draw(t, "key")),
			Stage: word.Draw(t, "stage"), ItemKey: word.Draw(t, "item"), Replacement: rapid.IntRange(0, 2).Draw(t, "replacement")}
	})
}

// I8: the same intent has one ID for ever; two intents are never merged.
func TestDeriveID(t *testing.T) {
	secret := []byte("the installation's secret")
	rapid.Check(t, func(t *rapid.T) {
		a, b := intents().Draw(t, "a"), intents().Draw(t, "b")
		ida, idb := DeriveID(secret, a), DeriveID(secret, b)
		if (a == b) != (ida == idb) {
			t.Fatalf("%+v and %+v: %s %s", a, b, ida, idb)
		}
		if !ValidID("op", string(ida)) || !holePattern[HoleOperationID].MatchString(string(ida)) || !holePattern[HoleKey].MatchString(DestinationKey(ida, 7)) {
			t.Fatalf("%s is no ID", ida)
		}
		if DeriveID([]byte("another secret"), a) == ida {
			t.Fatal("the secret does not count")
		}
	})
	const want = ID("op_4xb5ea9qjr1gvkpg63r5fpke8a")
	got := DeriveID(secret, Intent{Flow: "campaign-follow-up", RunKeyHash: HashRunKey("campaign-follow-up", "run-1"), Stage: "crm-task"})
	if got != want {
		t.Errorf("a known intent has got another ID: %s", got)
	}
}

// I8: the same key any number of times, in any order, is one run; two keys are two.
func TestHashRunKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type key struct{ flow, key string }
		seen := map[[32]byte]key{}
		for _, k := range rapid.SliceOf(rapid.Custom(func(t *rapid.T) key {
			return key{rapid.StringN(0, 3, -1).Draw(t, "flow"), rapid.StringN(0, 3, -1).Draw(t, "key")}
		})).Draw(t, "keys") {
			h := HashRunKey(k.flow, k.key)
			if before, ok := seen[h]; ok && before != k {
				t.Fatalf("%+v and %+v are one run", before, k)
			}
			seen[h] = k
		}
	})
}

func TestFormatID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "a"))
		b := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "b"))
		x, y := FormatID("att", a), FormatID("att", b)
		if (a == b) != (x == y) || !ValidID("att", x) || len(x) != 30 {
			t.Fatalf("%v %v: %s %s", a, b, x, y)
		}
		if (string(a[:]) < string(b[:])) != (x < y) && a != b {
			t.Fatal("the order of bytes is not the order of IDs")
		}
	})
	for _, s := range []string{"", "att_", "op_00000000000000000000000000", "att_0000000000000000000000000", "att_80000000000000000000000000",
		"att_0000000000000000000000000I", "att_0000000000000000000000000u", "att_000000000000000000000000000", "att-00000000000000000000000000"} {
		if ValidID("att", s) {
			t.Errorf("%q is valid", s)
		}
	}
}

func TestDestinationKey(t *testing.T) {
	seen := map[string]int{}
	for g := 1; g <= 1000; g++ {
		k := DestinationKey(someID, g)
		if before, ok := seen[k]; ok {
			t.Fatalf("generations %d and %d share %s", before, g, k)
		}
		seen[k] = g
		if len(k) > 255 || !strings.HasPrefix(k, someID) {
			t.Fatalf("key %s", k)
		}
	}
	if DestinationKey(someID, 0) != DestinationKey(someID, 1) {
		t.Error("no generation is not the first")
	}
}

// TestFirstID: identifiers made from a time on are not below its first one, earlier ones are.
func TestFirstID(t *testing.T) {
	at := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	first := FirstID("evi", at)
	of := func(at time.Time, rest byte) string {
		var b [16]byte
		for i := range b {
			b[i] = rest
		}
		binary.BigEndian.PutUint64(b[:8], uint64(at.UnixMilli())<<16|uint64(rest)<<8|uint64(rest))
		return FormatID("evi", b)
	}
	if !ValidID("evi", first) || of(at, 0) != first {
		t.Errorf("FirstID gives %s", first)
	}
	if before := of(at.Add(-time.Millisecond), 0xff); before >= first {
		t.Errorf("%s was made before %s", before, first)
	}
}
