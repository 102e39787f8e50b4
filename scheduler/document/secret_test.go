package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// readSecrets reads a, b and c.d of a document as secrets.
func readSecrets(t *testing.T, text string) (document.Value, *document.Reader, []document.Secret) {
	t.Helper()
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r := document.NewReader()
	o := r.Object(v, "")
	a, _ := o.Secret("a")
	b, _ := o.Secret("b")
	c, _ := o.Object("c")
	d, _ := c.Secret("d")
	c.Ignore("e")
	c.Done()
	o.Done()
	return v, r, []document.Secret{a, b, d}
}

const planted = `{"a":"s3cret","b":{"secretRef":"shared"},"c":{"d":"h1dden","e":1}}`

func TestSecretsAreNotShown(t *testing.T) {
	v, r, secrets := readSecrets(t, planted)
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	if got, want := v.String(), `{"b":{"secretRef":"shared"},"c":{"e":1}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if text, ok := secrets[0].Literal(); text != "s3cret" || !ok {
		t.Errorf("got %q, %t", text, ok)
	}
	if _, ok := secrets[1].Literal(); ok || secrets[1].Ref() != "shared" {
		t.Errorf("got %q", secrets[1].Ref())
	}
	if refs := r.SecretRefs(); len(refs) != 1 || refs[0] != (document.SecretRef{Path: "b.secretRef", Name: "shared"}) {
		t.Errorf("got %v", refs)
	}
	type around struct{ inner document.Secret }
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		for _, value := range []any{secrets, secrets[0], &secrets[0], around{secrets[0]}, &around{secrets[0]}} {
			if got := fmt.Sprintf(verb, value); strings.Contains(got, "s3cret") || strings.Contains(got, "733363726574") {
				t.Errorf("%s prints %s", verb, got)
			}
		}
	}
}

func TestSealAndUnseal(t *testing.T) {
	v, _, _ := readSecrets(t, planted)
	sealed, err := v.Seal("", func(path, text string) (string, error) { return path + "|" + text, nil })
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":{"$sealed":"a|s3cret"},"b":{"secretRef":"shared"},"c":{"d":{"$sealed":"c.d|h1dden"},"e":1}}`
	if got := sealed.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	open := func(path, text string) (string, error) {
		plain, ok := strings.CutPrefix(text, path+"|")
		if !ok || path == "c.d" {
			return "", errors.New("no key")
		}
		return plain, nil
	}
	back := sealed.Unseal("", open)
	if !back.HasSecrets() || !back.HasLocked() || back.String() != v.String() {
		t.Errorf("got %s", back)
	}
	again, err := back.Seal("", func(path, text string) (string, error) { return path + "|" + text, nil })
	if err != nil || again.String() != want {
		t.Errorf("got %s, %v", again, err)
	}
}

func TestEqualSeesSecrets(t *testing.T) {
	one, _, _ := readSecrets(t, planted)
	same, _, _ := readSecrets(t, planted)
	other, _, _ := readSecrets(t, strings.Replace(planted, "s3cret", "s4cret", 1))
	if !one.Equal(same) || one.Equal(other) || one.String() != other.String() {
		t.Error("secrets are not compared")
	}
}

func TestWrongSecrets(t *testing.T) {
	tests := map[string]string{
		`{"a":5,"c":{}}`:                                     `a: must be a string or {"secretRef": name}, not a number`,
		`{"a":{"secretRef":""},"c":{}}`:                      "a.secretRef: must not be empty",
		`{"a":{"secretref":"x","y":"s3cret"},"c":{}}`:        "a.y: unknown field",
		`{"a":{"$sealed":"x"},"c":{}}`:                       "a.secretRef: is required",
		`{"a":"` + strings.Repeat("x", 13<<10) + `","c":{}}`: "a: is 13312 bytes long, at most 12288 are allowed",
	}
	for text, want := range tests {
		_, r, _ := readSecrets(t, text)
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %s", text, err, want)
		}
	}
}

func TestReserved(t *testing.T) {
	tests := map[string]string{
		`{"a":1}`: "", `{"a":{"$sealed":"x"}}`: "a.$sealed", `{"a":[1,{"b":{"c":1,"$sealed":2}}]}`: "a[1].b.$sealed", `{"$sealed":1}`: "$sealed",
		`{"a":"$sealed"}`: "",
	}
	for text, want := range tests {
		if got, found := parse(t, text).Reserved(); got != want || found != (want != "") {
			t.Errorf("%s: got %q, %t", text, got, found)
		}
	}
}

func TestMayHoldSealed(t *testing.T) {
	v, _, _ := readSecrets(t, planted)
	if document.MayHoldSealed(v.JSON()) {
		t.Error("nothing is sealed")
	}
	sealed, err := v.Seal("", func(_, text string) (string, error) { return text, nil })
	if err != nil || !document.MayHoldSealed(sealed.JSON()) {
		t.Errorf("a sealed secret is not seen, %v", err)
	}
	if document.MayHoldSealed(document.ObjectValue(document.Member{Name: "a", Value: document.StringValue(`{"$sealed":"x"}`)}).JSON()) {
		t.Error("text is taken for a member")
	}
}

// TestCloneIsApart shows that reading a clone leaves the original as it is, and
// that the secrets come along.
func TestCloneIsApart(t *testing.T) {
	v, r, _ := readSecrets(t, planted)
	if !r.HasSecrets() {
		t.Error("no secret was read")
	}
	if got := fmt.Sprint(v.SecretPaths()); got != "[a c.d] []" {
		t.Errorf("got %s", got)
	}
	clone := v.Clone()
	if !clone.Equal(v) || !clone.HasSecrets() {
		t.Error("the clone differs")
	}
	o := document.NewReader().Object(clone, "")
	o.Ignore("A", "B", "C")
	inner, _ := o.Object("C")
	inner.Ignore("D")
	if fmt.Sprint(v.SecretPaths()) != "[a c.d] []" || clone.Equal(v) {
		t.Error("reading the clone changed the original")
	}
}

func TestIsCredential(t *testing.T) {
	const credentials = `
		Authorization Proxy-Authorization X-Forwarded-Authorization Authorization-Upstream authorization.v2 WWW-Authenticate
		Auth X-Auth xAuth X-OAuth2 Authentication X-Authentication Credential aws.credentials X-Credentials-Json db-creds
		Cookie Cookie2 Set-Cookie sessionCookie X-Session Session-Id sessionId SESSIONID JSESSIONID PHPSESSID connect.sid
		Api-Key X-API-Key apikey X-Apikey apiKey APIKey API_KEY x-functions-key Ocp-Apim-Subscription-Key Private-Key key passkey
		AWS-Access-Key-Id accessKeyID AccessKeyId Vault-Secret-Id X-Token-V2 tokenV2 token-v2 token2 X-Vault-Token access_token
		AccessToken X-CSRF-Token X-Amz-Security-Token secret client_secret clientSecret X-Secret-Value secret.current
		Password X-Password passwd userPassword db_pwd pwd X-Pass passphrase password-base64 X-Jwt x-otp sig sas sasKey SAS
		X-Hub-Signature X-Hub-Signature-256 X-Shopify-Hmac-Sha256 Stripe-Signature webhook-signature x-password-old keyid`
	for name := range strings.FieldsSeq(credentials) {
		if !document.IsCredential(name) {
			t.Errorf("%s is none", name)
		}
	}
	const others = `
		Idempotency-Key X-Idempotency-Key idempotencyKey Nats-Msg-Id partitionKey PartitionKey viaPartitionKey partition_key
		x-ms-documentdb-partitionkey Routing-Key Surrogate-Key Cache-Key sort-key public-key dedup-key
		X-Author author authority passport Bypass compass monkey X-Turkey keyboard X-Key-Count token-type token-count Tokens
		X-RateLimit-Remaining-Tokens secretary X-Session-Affinity-Mode signature-input designated Cookie-Consent
		Accept Content-Type Host User-Agent traceparent X-Request-Id correlation-id orderId appname classId inside basidium side
		X-Forwarded-For Sec-Fetch-Site idv2 id v2 256 - "" oauth-version pass-through X-Auth-Mode`
	for name := range strings.FieldsSeq(others) {
		if document.IsCredential(name) {
			t.Errorf("%s is one", name)
		}
	}
	if document.IsCredential("") {
		t.Error("no name is one")
	}
}
