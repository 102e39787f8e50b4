package source

import (
	"cmp"
	"encoding/base64"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// NATS is a subject, or a stream, of the NATS that Carillon uses.
type NATS struct {
	Subject string // of a core subscription, or the filter of Stream; "" with a stream: all its subjects
	Stream  string // name of a stream; "": a core subscription, which misses messages while no server runs
	Start   Start  // in the stream, at the creation of the source
}

// Start is where a source begins in a stream: at new messages (zero), at all stored ones, or at a sequence.
type Start struct {
	All      bool
	Sequence uint64
}

// The limits of texts, in bytes.
const (
	maxSubject = 512
	maxText    = 256
)

func readNATS(o *document.Object) *NATS {
	n := &NATS{}
	o.RequireOne("subject", "stream")
	if text, ok := o.String("subject"); ok {
		n.Subject = text
		checkSubject(o, text)
	}
	n.Stream = readText(o, "stream")
	if strings.ContainsAny(n.Stream, ".*>/\\ \t") {
		o.Problem("stream", "%q is not the name of a stream", n.Stream)
	}
	n.Start = readStart(o)
	if o.Has("start") && n.Stream == "" && !o.Describes() {
		o.Problem("start", "goes with stream: a core subject keeps no messages")
	}
	return n
}

// checkSubject checks a subject with wildcards. Its first token is a word, so that a source does not receive its own
// events, or messages of the server.
func checkSubject(o *document.Object, text string) {
	tokens := strings.Split(text, ".")
	for i, token := range tokens {
		wrong := token == "" || strings.ContainsFunc(token, unicode.IsSpace) ||
			strings.ContainsAny(token, "*>") && len(token) > 1 || token == ">" && i < len(tokens)-1
		if wrong || len(text) > maxSubject {
			o.Problem("subject", "%q is not a NATS subject: tokens between dots, * for one token, > for the rest, at most %d bytes",
				document.Cut(text, maxText), maxSubject)
			return
		}
	}
	if first := tokens[0]; first == "*" || first == ">" || first[0] == '$' || strings.HasPrefix(first, "_INBOX") {
		o.Problem("subject", "must begin with a word, not with a wildcard, $ or _INBOX: the source would receive its own events")
	}
}

// readStart reads start: new, all, or a sequence.
func readStart(o *document.Object) (s Start) {
	if v, ok := o.Value("start"); (ok && v.Kind() == document.KindNumber) || o.Describes() {
		n, _ := o.Int("start", 1, 1<<53)
		s.Sequence = uint64(n)
		if !o.Describes() {
			return s
		}
	}
	word, _ := o.Enum("start", "new", "all")
	return Start{All: word == "all"}
}

// readText reads a text that is not empty.
func readText(o *document.Object, name string) string {
	text, ok := o.String(name)
	switch {
	case !ok:
	case text == "":
		o.Problem(name, "must not be empty")
	case len(text) > maxText:
		o.Problem(name, "is %d bytes long, at most %d are allowed", len(text), maxText)
	}
	return text
}

// Webhook is an HTTP endpoint, POST /events/<collection>/<name>.
type Webhook struct {
	Verify    Verify
	Tolerance time.Duration // how far the timestamp of a signature may be from the time of receipt. Default: 1 min
	MaxBytes  int           // of the body. Default: scheduler.MaxEventSize
	RateLimit RateLimit     // per server. Default: DefaultRateLimit, but scheme None requires one
	Challenge string        // query parameter that a GET request echoes; "": GET is refused
}

// RateLimit is a number of requests in a period.
type RateLimit struct {
	Requests int
	Period   time.Duration
}

// Verify is how a webhook recognizes its sender.
type Verify struct {
	Scheme    Scheme
	Secret    document.Secret // of all schemes but none; the password of basic
	User      string          // of basic
	Header    string          // with the signature of hmac, or the token
	Algorithm string          // of hmac: sha1, sha256 or sha512
	Encoding  string          // of hmac: hex or base64
	Prefix    string          // of the value of the header of hmac, such as sha256=
}

// Scheme is a way to verify a sender.
type Scheme string

// The schemes.
const (
	Standard Scheme = "standard" // Standard Webhooks
	GitHub   Scheme = "github"
	Stripe   Scheme = "stripe"
	HMAC     Scheme = "hmac" // of the body, in a header
	Basic    Scheme = "basic"
	Token    Scheme = "token" // in a header
	None     Scheme = "none"  // any sender that knows the URL can publish events
)

// Defaults and limits of a webhook.
const (
	DefaultTolerance = time.Minute
	maxTolerance     = 2 * time.Minute // the duplicate window of the stream: a replay must not outlast it
	maxRate          = 1_000_000
)

// DefaultRateLimit is the rate limit of a webhook that verifies its sender. All collections share the stream of events, and
// a sender without a limit could fill it.
var DefaultRateLimit = RateLimit{Requests: 600, Period: time.Minute}

func readWebhook(o *document.Object) *Webhook {
	w := &Webhook{RateLimit: DefaultRateLimit}
	o.Require("verify")
	if vo, ok := o.Object("verify"); ok {
		w.Verify = readVerify(vo)
	}
	tolerance, _ := o.ExactDuration("tolerance", time.Second, maxTolerance)
	maxBytes, _ := o.Int("maxBytes", 1, scheduler.MaxEventSize)
	w.Tolerance, w.MaxBytes = cmp.Or(tolerance, DefaultTolerance), int(cmp.Or(maxBytes, scheduler.MaxEventSize))
	if w.Verify.Scheme == None && !o.Describes() && !o.Has("rateLimit") {
		o.Problem("rateLimit", "is required with verify.type none: unverified clients could fill the stream that all collections share")
	}
	if ro, ok := o.Object("rateLimit"); ok {
		ro.Require("requests")
		requests, _ := ro.Int("requests", 1, maxRate)
		period, _ := ro.ExactDuration("period", time.Second, 24*time.Hour)
		w.RateLimit = RateLimit{Requests: int(requests), Period: cmp.Or(period, time.Second)}
		ro.Done()
	}
	w.Challenge = readText(o, "challenge")
	return w
}

// schemes are all schemes, as words of a document.
var schemes = []string{
	string(Standard), string(GitHub), string(Stripe), string(HMAC), string(Basic), string(Token), string(None),
}

func readVerify(o *document.Object) (v Verify) {
	if !o.EachKind(v.read, schemes...) {
		v.read(o)
	}
	return v
}

func (v *Verify) read(o *document.Object) {
	o.Require("type")
	word, ok := o.Enum("type", schemes...)
	if !ok {
		return // the other fields depend on it
	}
	v.Scheme = Scheme(word)
	v.readScheme(o)
	o.Done()
}

func (v *Verify) readScheme(o *document.Object) {
	switch v.Scheme {
	case Basic:
		o.Require("user")
		v.User = readText(o, "user")
		if strings.Contains(v.User, ":") {
			o.Problem("user", "must not contain a colon, which ends the user name in HTTP")
		}
		v.Secret = readSecret(o, "password")
	case HMAC:
		v.readHMAC(o)
	case Token:
		v.Secret = readSecret(o, "secret")
		v.Header = readHeader(o)
	case GitHub, Stripe:
		v.Secret = readSecret(o, "secret")
	case Standard:
		v.Secret = readSecret(o, "secret")
		if text, literal := v.Secret.Literal(); literal && text != "" {
			if _, err := StandardKey(text); err != nil {
				o.Problem("secret", "%v", err)
			}
		}
	case None:
	}
}

// minStandardKey is the minimum length of a key in bytes (specification, section "Signature scheme").
const minStandardKey = 24

// StandardKey returns the key in a secret of Standard Webhooks: base64, with or without whsec_ in front.
func StandardKey(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) < minStandardKey {
		return nil, errors.New("is not a secret of Standard Webhooks: 24 bytes or more in base64, with or without whsec_ in front")
	}
	return key, nil
}

func (v *Verify) readHMAC(o *document.Object) {
	v.Secret = readSecret(o, "secret")
	o.Require("header")
	v.Header = readHeader(o)
	algorithm, _ := o.Enum("algorithm", "sha256", "sha1", "sha512")
	encoding, _ := o.Enum("encoding", "hex", "base64")
	v.Algorithm, v.Encoding = cmp.Or(algorithm, "sha256"), cmp.Or(encoding, "hex")
	v.Prefix, _ = o.String("prefix")
}

func readSecret(o *document.Object, name string) document.Secret {
	o.Require(name)
	secret, ok := o.Secret(name)
	if ok && secret.IsZero() {
		o.Problem(name, "must not be empty")
	}
	return secret
}

func readHeader(o *document.Object) string {
	name := readText(o, "header")
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}
	if strings.ContainsFunc(name, odd) {
		o.Problem("header", "%q is not the name of an HTTP header: letters, digits, - and _", name)
	}
	return name
}
