package operation

import (
	"regexp"
	"strings"
	"unicode"
)

// errorTextMax bounds a normalised error, in bytes of ASCII.
const errorTextMax = 240

// gap stands for everything that is not told: numbers, identifiers, names, addresses.
const gap = "…"

// The members of an answer in which destinations say what is wrong. Only their texts are
// looked at: the rest of an answer is data.
var errorMember = regexp.MustCompile(`(?i)"(?:error|errors|error_?code|error_?message|error_?description|code|type|title|status|reason|message|msg|detail|details|description|fault)"\s*:\s*\[?\s*"((?:[^"\\]|\\.)*)"?`)

var (
	htmlMarks   = regexp.MustCompile(`(?is)<(?:script|style)\b.*?(?:</(?:script|style)>|$)|<[^>]*>?`)
	jsonEscape  = regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|.)`)
	camelBorder = regexp.MustCompile(`([a-z])([A-Z])`)
)

// NormalizeError reduces an error's text to the words of a fixed list of technical words,
// in their order; everything else is left out and marked by one gap. So numbers,
// identifiers, hashes, times, addresses, names and secrets can never stand in it, and
// errors that differ only in them are equal.
func NormalizeError(s string) string {
	if looksLikeJSON(s) {
		s = errorMembers(s)
	}
	s = htmlMarks.ReplaceAllString(s, " ")
	var out []string
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`,;"'()[]{}<>|`, r) }) {
		out = addWord(out, w)
	}
	if len(out) > 0 && out[len(out)-1] == gap {
		out = out[:len(out)-1]
	}
	if len(out) > 0 && out[0] == gap {
		out = out[1:]
	}
	return cut(strings.Join(out, " "))
}

// addWord adds a word, or the gap in its place; gaps that follow one another are one.
func addWord(out []string, w string) []string {
	w = knownToken(strings.Trim(w, ".:!?-–…*/\\"))
	if w == "" || strings.Trim(w, "_"+gap) == "" {
		w = gap
	}
	if w == gap && len(out) > 0 && out[len(out)-1] == gap {
		return out
	}
	return append(out, w)
}

// knownToken keeps of a word such as "validation_error" or "invalidEmail" the parts that
// are known; "" = none is. A part with a digit is never known.
func knownToken(w string) string {
	if len(w) > 80 || strings.ContainsAny(w, "@=:%\\") || strings.Contains(w, "//") {
		return ""
	}
	w = camelBorder.ReplaceAllString(w, "${1}_$2")
	parts := strings.FieldsFunc(strings.ToLower(w), func(r rune) bool { return strings.ContainsRune("_-./", r) })
	known := false
	for i, p := range parts {
		if technical[p] {
			known = true
		} else {
			parts[i] = gap
		}
	}
	if !known {
		return ""
	}
	return strings.Join(parts, "_")
}

func looksLikeJSON(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")
}

// errorMembers gives the texts in which a JSON answer, whole or cut, says what is wrong.
func errorMembers(s string) string {
	var out []string
	for _, m := range errorMember.FindAllStringSubmatch(s, 12) {
		out = append(out, jsonEscape.ReplaceAllString(m[1], " "))
	}
	return strings.Join(out, " ")
}

// cut shortens between words.
func cut(s string) string {
	for len(s) > errorTextMax {
		at := strings.LastIndexByte(s[:len(s)-1], ' ')
		if at < 0 {
			return ""
		}
		s = s[:at]
	}
	return s
}

// technical are the words that an error's text may keep. They are words of the trade,
// none of which names a person, a place or a thing that somebody bought.
var technical = wordList(`
	abort aborted accept accepted access account action activated active address administrator again allowed already ambiguous an and
	answer answered api application approval argument arguments array as at attempt attempts attribute auth authenticate authenticated
	authentication authorization authorized auto available away
	backend bad balancer be before being below between blocked body boolean both bounce bounced box broken buffer busy but by byte bytes
	cache call callback cancelled cannot certificate change changed channel char character characters charset check checksum choice
	cipher cleared client closed code column command complete completed concurrent condition config confirmed configuration configured conflict
	connect connected connecting connection connections constraint contains content continue control cors could count create created
	credential credentials currency current currently cut cycle
	daemon daily data database date deadline deadlock declined decode default deferred delay delayed delete deleted delivered delivery
	denied dependency deprecated destination detected different differs disabled disconnected discount disk dispatch dispatched
	does domain done down downstream duplicate duplicated during
	early element email empty enabled encode encoded encoding encryption end ended endpoint enough entity entry enum environment
	error errors escaped event exceed exceeded exceeds exception exclusive executed exist existing exists exit expected expired expires
	external extra
	failed failure false fatal fault feature field fields file filter find first flood for forbidden foreign form format formatted found
	from full function
	gateway general generic get given gone got greater greylisted group
	handler handshake has hash have header headers held host hostname html http
	id idempotency idempotent identifier identity if illegal in incomplete incorrect index initialized input insufficient integer
	integrity interface internal interrupted into invalid is isn it item items its
	job json
	key keys known
	large last late later lease least length less level limit limited limits link list load loaded local locale locked lock log login
	long lookup loop lost low
	machine mailbox maintenance malformed many mapping match matched maximum may media member memory merge message messages method
	minimum mismatch missing mode model moved much multiple must
	name network new next no node none not nothing null number numeric
	object obsolete odd of offline on once one only open operation operations option or order origin out outage outside overflow
	overload overloaded own
	page passed parameter parameters parse parser parsing partial password path pattern payload payment pending per period permanent
	permanently permission permissions permitted plain plan policy port post prefix prepared present previous primary privilege
	process processed processing production progress property protocol provided provider proxy put
	query queue queued quota
	range rate reach reached read reading ready reason receive received recipient record redirect reference refused region rejected relation
	relay released removed replay replayed reply reported reputation request requested requests require required requires reserved
	reset resolve resolved resource resources response restart restricted result retry return returned review revoked role rollback
	route row rule rules
	schema scheme scope second secure security segment send sender sending sent sequence serialization serializable server servers
	service session set setting shut signature size slow smtp socket spam specified ssl stale starting starttls state status step still stopped
	storage store stored stream string subject subscription success superseded supported suspended syntax system
	table taken target template temporarily temporary tenant terminated test text than that the there this throttle throttled time
	timeout timestamp timed tls to together token too transaction transfer transient transport true try type types
	unable unauthorized unavailable undefined unencrypted unexpected unique unknown unpaid unprocessable unreachable unreadable
	unrecognised unrecognized unsettled unsupported until unverified update updated upgrade upload uploaded upstream uri url usage use used user
	username utf
	valid validate validation value values variable verification verified verify version violated violates violation
	wait waiting was webhook while with within without work worker write written wrong
	xml yet your zone

	address adopt adopted adoption after asked body cart cash contact country coupon customer dns effect enum eof epipe escalate expire hold
	invoice mail phone postcode price product quantity recheck reexecution shipping such tax usable unusable withdraw
`)

func wordList(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}
