package store

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// encodeEntries gives the entries as historySelect reads them, and makes sure that their
// kinds are known (history_kinds).
func (t *tx) encodeEntries(entries []chained, of placed) (string, error) {
	if err := t.knowKinds(entries, of); err != nil {
		return "", err
	}
	const most = 1280 // bytes of an entry
	b := append(make([]byte, 0, 2+most*len(entries)), '[')
	for i, e := range entries {
		links := []byte("{}")
		if len(e.Links) > 0 {
			var err error
			if links, err = json.Marshal(e.Links); err != nil {
				return "", err
			}
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = e.appendJSON(b, string(links), of.place(e.Entry))
	}
	return string(append(b, ']')), nil
}

// appendJSON writes an entry as historySelect reads it: an item of a batch has several, and
// no other rows have as many columns.
func (e *chained) appendJSON(b []byte, links string, at place) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendInt(b, e.Seq, 10)
	b = append(b, `,"at":"`...)
	b = e.At.AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	for _, m := range [...]struct{ name, text string }{
		{`,"sk":`, string(e.SubjectKind)}, {`,"si":`, e.SubjectID}, {`,"ak":`, string(e.ActorKind)}, {`,"ai":`, e.ActorID}, {`,"an":`, e.ActorName},
		{`,"ro":`, string(e.Role)}, {`,"ch":`, e.Channel}, {`,"ac":`, e.Action}, {`,"f":`, string(e.From)}, {`,"t":`, string(e.To)}, {`,"re":`, e.Reason},
		{`,"li":`, links}, {`,"ve":`, string(e.VersionID)}, {`,"ev":`, e.EvidenceHash}, {`,"wl":`, strings.Join(e.Words.Links, ",")},
		{`,"fl":`, at.flow}, {`,"de":`, at.destination},
	} {
		b, _ = jsontext.AppendQuote(append(b, m.name...), m.text) // what is not UTF-8 becomes U+FFFD
	}
	for _, m := range [...]struct {
		name  string
		bytes []byte
	}{{`,"p":"`, e.Prev[:]}, {`,"h":"`, e.hash[:]}, {`,"wh":"`, e.Words.Hash[:]}, {`,"ws":"`, e.Words.Salt}} {
		b = append(hex.AppendEncode(append(b, m.name...), m.bytes), '"')
	}
	return append(b, '}')
}
