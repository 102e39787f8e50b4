package document

import (
	"slices"
	"strings"
)

// IsCredential reports whether a header or property of that name holds a credential, so that its value is a [Secret]. It is
// one rule for HTTP headers, NATS headers and the application properties of Service Bus.
//
// The name is taken as words, which end at a hyphen, underscore, dot or other sign, and where upper case begins; digits at
// their end do not count. A name holds a credential when one of its words is authorization, credential, credentials,
// password or passwd, or when the last word is
//
//   - auth, oauth, authentication, authenticate, cookies, cred, creds, pass, passcode, passphrase, pwd, session, sid,
//     bearer, jwt, otp, sas, sig or hmac;
//   - a word that ends in key, token, secret, signature, password, passwd, pwd, credential, credentials, authorization,
//     cookie, sessionid, sessid, secretid, tokenid or keyid, such as apikey.
//
// Words at the end that only say which one it is, or how it is written, are passed over first: id, v, value, header, current,
// previous, primary, secondary, old, new, upstream, base, hex, sha, md. So access-key-id, token-v2, session-id and
// x-hub-signature-256 are credentials; x-author, passport, bypass, monkey, x-key-count and token-type are not.
//
// Not credentials, though they are keys, are those that order, group or find things: what stands before key is idempotency,
// partition, routing, ordering, row, sort, grouping, cache, surrogate, dedup, deduplication or public.
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

// nameWords returns the words of a name in lower case, without the digits at their end.
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
