package document_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

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
