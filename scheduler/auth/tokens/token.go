package tokens

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/big"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Token is an access token without its secret.
type Token = v1.Token

// Principal returns the identity of a caller who presents t.
func Principal(t *Token, address string) *auth.Principal {
	name := t.Name
	if name == "" {
		name = t.ID
	}
	return &auth.Principal{Name: name, ID: t.ID, Via: auth.ViaToken, Address: address, Grants: t.Grants}
}

// refusal returns why a token is invalid, or "".
func refusal(t *Token, now time.Time) string {
	switch {
	case !t.Revoked.IsZero():
		return "this token was revoked"
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		return "this token expired at " + t.Expires.UTC().Format(time.RFC3339)
	}
	return ""
}

// past reports whether the retention of a revoked or expired token has passed.
func past(t *Token, now time.Time) bool {
	const keep = 30 * 24 * time.Hour
	return !t.Revoked.IsZero() && now.Sub(t.Revoked) > keep || !t.Expires.IsZero() && now.Sub(t.Expires) > keep
}

// stored is the stored form of a token.
type stored struct {
	Token

	Hash string `json:"hash,omitempty"` // of the text; empty when revoked
	MAC  string `json:"mac,omitempty"`  // of all fields above; see [Keeper.Sign]

	revision uint64
	sound    atomic.Bool // already verified
}

// sum is the HMAC-SHA256 of a token.
func (s *stored) sum(key []byte) string {
	h := hmac.New(sha256.New, key)
	_ = json.NewEncoder(h).Encode(struct { //nolint:errchkjson // the times were read, or are now
		Token

		Hash string `json:"Hash"`
	}{s.Token, s.Hash})
	return hex.EncodeToString(h.Sum(nil))
}

// decode decodes a token. On an error, the token has only its id and a Problem.
func decode(id string, revision uint64, data []byte) (*stored, error) {
	s := &stored{revision: revision}
	if err := json.Unmarshal(data, s); err != nil || s.ID != id {
		return &stored{Token: Token{ID: id, Problem: "its stored data cannot be read"}, revision: revision},
			fmt.Errorf("token %s: its stored data cannot be read: %w", id, err)
	}
	return s, nil
}

// maxGrants is the maximum number of grants of a token, and of collections in each grant.
const maxGrants = 100

// request parses a request for a new token:
//
//	{"name": "ci", "grants": [{"role": "operator", "collections": ["partners"]}], "expires": "2027-01-31T00:00:00Z"}
func request(body []byte, now time.Time) (*stored, error) {
	doc, err := scheduler.ParseDocument(body)
	if err != nil {
		return nil, err
	}
	r := document.NewReader()
	o := r.Object(doc, "")
	s := &stored{Token: Token{Created: now.UTC()}}
	if name, ok := o.String("name"); ok {
		if err := scheduler.ValidateName("name", name); err != nil {
			for _, p := range scheduler.ProblemsIn(err) {
				r.Problem(p.Path, "%s", p.Message)
			}
		}
		s.Name = name
	}
	if expires, ok := o.Time("expires"); ok {
		if !expires.After(now) {
			o.Problem("expires", "is in the past")
		}
		s.Expires = expires.UTC()
	}
	if o.Require("grants") {
		s.Grants = readGrants(o)
	}
	o.Done()
	if err := r.Err(); err != nil {
		return nil, scheduler.AsInvalid(err)
	}
	return s, nil
}

func readGrants(o *document.Object) []auth.Grant {
	objects, ok := o.Objects("grants")
	if ok && (len(objects) == 0 || len(objects) > maxGrants) {
		o.Problem("grants", "has %d grants, 1 to %d are allowed", len(objects), maxGrants)
	}
	var grants []auth.Grant
	for _, g := range objects {
		var names []string
		for _, role := range auth.Roles() {
			names = append(names, string(role))
		}
		grant := auth.Grant{}
		if g.Require("role") {
			role, _ := g.Enum("role", names...)
			grant.Role = auth.Role(role)
		}
		if collections, ok := g.Strings("collections"); ok {
			if len(collections) == 0 || len(collections) > maxGrants {
				g.Problem("collections", "has %d names, 1 to %d are allowed; leave it out for all collections", len(collections), maxGrants)
			}
			for i, name := range collections {
				readCollection(g, i, name)
			}
			grant.Collections = collections
		}
		g.Done()
		grants = append(grants, grant)
	}
	return grants
}

// readCollection validates the name of a collection, which need not exist yet. A name may end in "=" and a text that
// distinguishes collections of one name; readCollection does not check that text.
func readCollection(g *document.Object, i int, name string) {
	base, _, _ := strings.Cut(name, "=")
	for _, p := range scheduler.ProblemsIn(scheduler.ValidateName("", base)) {
		g.Reader().Problem(g.Element("collections", i), "%s", p.Message)
	}
}

// Prefix is the prefix of every token.
const Prefix = "crl_"

// Lengths of a token's parts. The id and the secret are random; the checksum covers everything before it.
const (
	idLength       = 10 // 50 bits in base 32: unique, not secret
	secretBytes    = 32 // 256 bits
	secretLength   = 43 // secretBytes in base 62
	checksumLength = 6  // 32 bits in base 62
)

// form matches a token; secret scanners can use it.
var form = regexp.MustCompile(`^crl_[a-z2-7]{10}_[0-9A-Za-z]{49}$`)

// newText returns a new token and its id.
func newText() (id, text string) {
	var secret [secretBytes]byte
	_, _ = rand.Read(secret[:])                  // never fails
	id = strings.ToLower(rand.Text()[:idLength]) // base 32
	text = Prefix + id + "_" + base62(secret[:], secretLength)
	return id, text + checksum(text)
}

// read returns the id in a token's text, or false if the text is not a token.
func read(text string) (id string, ok bool) {
	if !form.MatchString(text) {
		return "", false
	}
	end := len(text) - checksumLength
	return text[len(Prefix):][:idLength], checksum(text[:end]) == text[end:]
}

// WellFormed reports whether id has the form of a token id.
func WellFormed(id string) bool {
	return len(id) == idLength && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// hash returns the stored hash of a token's text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// checksum returns the CRC-32 (IEEE) of text.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	return base62([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}, checksumLength)
}

// base62 encodes a number in letters and digits, so that a double click selects it, and pads it with zeros.
func base62(number []byte, length int) string {
	const base = 62 // the digits of [big.Int.Text]: 0-9, a-z, A-Z
	text := new(big.Int).SetBytes(number).Text(base)
	return strings.Repeat("0", length-len(text)) + text
}
