package document

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Secret is a write-only string, or the name of a shared secret. The zero Secret is empty. Every fmt verb prints a
// placeholder.
type Secret struct {
	text   *string // a pointer, so that printing an enclosing struct does not follow it; nil: none
	ref    string
	locked bool
}

// IsZero reports whether the secret is absent or empty.
func (s Secret) IsZero() bool {
	text, literal := s.Literal()
	return literal && text == ""
}

// Ref returns the name of the shared secret that the document refers to, "" if the document contains the secret itself.
func (s Secret) Ref() string { return s.ref }

// Locked reports whether only the sealed text is known, because the key is missing.
func (s Secret) Locked() bool { return s.locked }

// Literal returns the secret if the document contains it and it is not locked.
func (s Secret) Literal() (text string, ok bool) {
	if s.text != nil {
		text = *s.text
	}
	return text, s.ref == "" && !s.locked
}

// Format keeps the secret out of printed output.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("(secret)")) }

// MaxSecret is the maximum length in bytes of a secret: a certificate with its chain.
const MaxSecret = 12 << 10

// secretRef is the field that names a shared secret.
const secretRef = "secretRef"

// Secret returns a secret: a string, or {"secretRef": "name"}. It marks the string in the tree, so that no output of
// the document shows it.
func (o *Object) Secret(name string) (Secret, bool) {
	o.wants(name, Form{Kind: FormSecret})
	v, ok := o.Value(name)
	switch {
	case v.kind == KindObject, o.shape != nil:
		return o.secretRef(name)
	case !ok:
		return Secret{}, false
	case v.kind != KindString:
		o.Problem(member("", name), "must be a string or {%q: name}, not %s", secretRef, v.kind)
		return Secret{}, false
	case len(v.text) > MaxSecret && !v.locked:
		o.Problem(member("", name), "is %d bytes long, at most %d are allowed", len(v.text), MaxSecret)
		return Secret{}, false
	}
	i := o.find(name)
	o.members[i].Value.secret = true
	o.reader.secret = true
	return Secret{text: &v.text, locked: v.locked}, true
}

// secretRef reads a reference to a shared secret.
func (o *Object) secretRef(name string) (Secret, bool) {
	ro, _ := o.Object(name)
	defer ro.Done()
	if !ro.Require(secretRef) {
		return Secret{}, false
	}
	ref, ok := ro.String(secretRef)
	if !ok || ref == "" {
		if ok {
			ro.Problem(secretRef, "must not be empty")
		}
		return Secret{}, false
	}
	o.reader.refs = append(o.reader.refs, SecretRef{Path: ro.Path(secretRef), Name: ref})
	return Secret{ref: ref}, true
}

// SecretRef is a reference to a shared secret at a path.
type SecretRef struct {
	Path, Name string
}

// SecretRefs returns the references to shared secrets read so far.
func (r *Reader) SecretRefs() []SecretRef { return r.refs }

// HasSecrets reports whether the reader has read a secret in the document, locked or not. It costs nothing, unlike
// [Value.HasSecrets].
func (r *Reader) HasSecrets() bool { return r.secret }

// IsSecret reports whether the value is a secret, locked or not, that was read or stored as one.
func (v Value) IsSecret() bool { return v.secret }

// sealedMember is the only field of an object that represents a sealed secret in a stored document.
const sealedMember = "$sealed"

// HasSecrets reports whether the tree contains a secret that is not locked.
func (v Value) HasSecrets() bool {
	return v.secret && !v.locked || slices.ContainsFunc(v.items, Value.HasSecrets) ||
		slices.ContainsFunc(v.members, func(m Member) bool { return m.Value.HasSecrets() })
}

// HasLocked reports whether the tree contains a locked secret.
func (v Value) HasLocked() bool {
	return v.locked || slices.ContainsFunc(v.items, Value.HasLocked) ||
		slices.ContainsFunc(v.members, func(m Member) bool { return m.Value.HasLocked() })
}

// Seal replaces every secret in the tree by the output of seal, which is safe to store and show. path is the path of v.
// Locked secrets keep their sealed text.
func (v Value) Seal(path string, seal func(path, text string) (string, error)) (Value, error) {
	if !v.secret {
		if !v.HasSecrets() && !v.HasLocked() { // its paths may be long and numerous
			return v.Clone(), nil
		}
		return v.each(path, func(path string, inner Value) (Value, error) { return inner.Seal(path, seal) })
	}
	text := v.text
	if !v.locked {
		var err error
		if text, err = seal(path, text); err != nil {
			return v, err
		}
	}
	return ObjectValue(Member{Name: sealedMember, Value: StringValue(text)}), nil
}

// Unseal opens every sealed secret in the tree. A secret that open refuses becomes locked, and [Value.Seal] restores
// its sealed text.
func (v Value) Unseal(path string, open func(path, sealed string) (string, error)) Value {
	if text, ok := v.sealed(); ok {
		plain, err := open(path, text)
		if err != nil {
			return Value{kind: KindString, secret: true, locked: true, text: text}
		}
		return Value{kind: KindString, secret: true, text: plain}
	}
	if !v.hasSealed() {
		return v.Clone()
	}
	v, _ = v.each(path, func(path string, inner Value) (Value, error) { return inner.Unseal(path, open), nil })
	return v
}

// hasSealed reports whether the tree contains a sealed secret.
func (v Value) hasSealed() bool {
	_, sealed := v.sealed()
	return sealed || slices.ContainsFunc(v.items, Value.hasSealed) ||
		slices.ContainsFunc(v.members, func(m Member) bool { return m.Value.hasSealed() })
}

// Disguised replaces the text of every readable secret in the tree, except at the paths in except, with text repeated
// to the same length. path is the path of v.
func (v Value) Disguised(path, text string, except []string) Value {
	if v.secret {
		if !v.locked && !slices.Contains(except, path) {
			v.text = strings.Repeat(text, 1+len(v.text)/len(text))
		}
		return v
	}
	v, _ = v.each(path, func(path string, inner Value) (Value, error) { return inner.Disguised(path, text, except), nil })
	return v
}

// Reserved returns the path of a field with the reserved name of sealed secrets. Documents of users must not have one,
// because the store would read it as a sealed secret.
func (v Value) Reserved() (path string, found bool) {
	for i, item := range v.items {
		if path, found := item.Reserved(); found {
			return join(element("", i), path), true
		}
	}
	for _, m := range v.members {
		if m.Name == sealedMember {
			return member("", m.Name), true
		}
		if path, found := m.Value.Reserved(); found {
			return join(member("", m.Name), path), true
		}
	}
	return "", false
}

// MayHoldSealed reports whether JSON written by [Value.JSON] may contain sealed secrets. Only the reserved field name
// matches, because quotes in strings are escaped.
func MayHoldSealed(json []byte) bool { return bytes.Contains(json, sealedMark) }

var sealedMark = []byte(`{"` + sealedMember + `":`)

// NextSealed returns the bounds of the next sealed text in JSON written by [Value.JSON]. Both are the length of the
// JSON if it has none.
func NextSealed(json []byte) (begin, end int) {
	i := bytes.Index(json, sealedMark)
	if i < 0 {
		return len(json), len(json)
	}
	begin = min(i+len(sealedMark)+1, len(json)) // behind the quote
	if end = bytes.IndexByte(json[begin:], '"'); end < 0 {
		return len(json), len(json)
	}
	return begin, begin + end
}

// SecretPaths returns the paths of the secrets in the tree: readable and locked ones.
func (v Value) SecretPaths() (open, locked []string) {
	v.eachSecret("", func(path string, isLocked bool) {
		if isLocked {
			locked = append(locked, path)
		} else {
			open = append(open, path)
		}
	})
	return open, locked
}

func (v Value) eachSecret(path string, f func(path string, locked bool)) {
	if v.secret {
		f(path, v.locked)
	}
	if !v.HasSecrets() && !v.HasLocked() {
		return
	}
	for i, item := range v.items {
		item.eachSecret(element(path, i), f)
	}
	for _, m := range v.members {
		m.Value.eachSecret(member(path, m.Name), f)
	}
}

// sealed returns the sealed text if v represents a sealed secret.
func (v Value) sealed() (string, bool) {
	if len(v.members) != 1 || v.members[0].Name != sealedMember || v.members[0].Value.kind != KindString {
		return "", false
	}
	return v.members[0].Value.text, true
}

// Equal reports whether two trees are equal, including the order of fields and secrets.
func (v Value) Equal(w Value) bool {
	return v.kind == w.kind && v.truth == w.truth && v.secret == w.secret && v.locked == w.locked && v.text == w.text &&
		slices.EqualFunc(v.items, w.items, Value.Equal) &&
		slices.EqualFunc(v.members, w.members, func(a, b Member) bool { return a.Name == b.Name && a.Value.Equal(b.Value) })
}

// IsCredential reports whether a header or property with that name holds a credential, so that its value is a [Secret].
// The rule is the same for HTTP headers, NATS headers and application properties of Service Bus.
//
// The name is split into words at hyphens, underscores, dots and other signs, and before upper case; trailing digits
// are dropped. It names a credential if one of its words is authorization, credential, credentials, password or passwd,
// or if the last word is
//
//   - auth, oauth, authentication, authenticate, cookies, cred, creds, pass, passcode, passphrase, pwd, session, sid,
//     bearer, jwt, otp, sas, sig or hmac;
//   - a word that ends in key, token, secret, signature, password, passwd, pwd, credential, credentials, authorization,
//     cookie, sessionid, sessid, secretid, tokenid or keyid, such as apikey.
//
// Trailing words that only number the value or name its encoding are dropped first: id, v, value, header, current,
// previous, primary, secondary, old, new, upstream, base, hex, sha, md. So access-key-id, token-v2, session-id and
// x-hub-signature-256 are credentials; x-author, passport, bypass, monkey, x-key-count and token-type are not.
//
// Keys that order, group or find things are not credentials: key after idempotency, partition, routing, ordering, row,
// sort, grouping, cache, surrogate, dedup, deduplication or public.
func IsCredential(name string) bool {
	words := nameWords(name)
	if slices.ContainsFunc(words, func(w string) bool { return everywhere[w] }) {
		return true
	}
	for len(words) > 1 && passedOver[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if kind, isKey := strings.CutSuffix(last, "key"); isKey {
		if kind == "" && len(words) > 1 {
			kind = words[len(words)-2]
		}
		return !harmlessKeys[kind] && !notKeys[last]
	}
	return atEnd[last] || slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(last, end) })
}

// wordSet returns a set of words.
func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// The words of [IsCredential], in lower case.
var (
	everywhere = wordSet("authorization credential credentials password passwd")
	atEnd      = wordSet("auth oauth authentication authenticate cookies cred creds pass passcode passphrase " +
		"session sid bearer jwt otp sas sig hmac")
	passedOver   = wordSet("id v value header current previous primary secondary old new upstream base hex sha md")
	harmlessKeys = wordSet("idempotency partition routing ordering row sort grouping cache surrogate dedup deduplication public")
	notKeys      = wordSet("monkey donkey turkey hockey jockey lackey whiskey")
	endings      = []string{
		"token", "secret", "signature", "password", "passwd", "pwd", "credential", "credentials", "authorization", "cookie",
		"sessionid", "sessid", "secretid", "tokenid", "keyid",
	}
)

// nameWords returns the words of a name in lower case, without trailing digits.
func nameWords(name string) []string {
	var words []string
	add := func(word string) {
		if word = strings.TrimRight(word, "0123456789"); word != "" {
			words = append(words, strings.ToLower(word))
		}
	}
	start := 0
	for i := range len(name) {
		c := name[i]
		switch {
		case !isLetter(c) && (c < '0' || c > '9'):
			add(name[start:i])
			start = i + 1
		case i > start && isUpper(c) && (!isUpper(name[i-1]) || i+1 < len(name) && isLower(name[i+1])): // aB, ABc
			add(name[start:i])
			start = i
		}
	}
	add(name[start:])
	return words
}

func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func isLetter(c byte) bool { return isUpper(c) || isLower(c) }
