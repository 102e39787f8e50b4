package node_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// TestSecretsAreNowhere plants a secret of each kind, lets jobs with them
// succeed, fail and talk to targets that repeat what they get, and then looks
// for the secrets in every message of every stream and bucket, in every file,
// in all logs and in every answer: as they are, and in base64, hex and URLs.
func TestSecretsAreNowhere(t *testing.T) {
	w := newVaultWorld(t)
	w.put("PUT", "/secrets/shared", fmt.Sprintf(`{"value": %q, "description": "findme"}`, w.plant("shared")))
	jobs := w.jobs()
	for name, action := range jobs {
		w.put("PUT", "/jobCollections/default/jobs/"+name, `{"description": "findme", "action": {`+action+`}}`)
	}
	w.overNATS()
	w.edits()
	w.await("the jobs", func() bool {
		for name := range jobs {
			body := w.answer("GET", "/jobCollections/default/jobs/"+name, "")
			if !strings.Contains(body, `"state":"completed"`) && !strings.Contains(body, `"state":"faulted"`) {
				return false
			}
		}
		return true
	})
	w.checkDelivered(jobs)
	w.ask()
	w.dumpStreams()
	w.rotate()
	w.ask()
	w.dumpStreams()
	if err := w.node.Stop(); err != nil {
		t.Error(err)
	}
	node.CloseConn(w.node.Conn)
	w.close()
	w.dumpFiles()
	w.dumps.add("logs", w.log.String())
	w.dumps.add("template output", w.mirror.bodies.String())
	for _, place := range []string{
		"stream KV_carillon-jobs", "stream KV_carillon-secrets", "stream CARILLON_HISTORY", "REST", "NATS", "file ", "logs", "template output",
	} {
		if !w.dumps.has(place) {
			t.Errorf("nothing was looked at in %s", place)
		}
	}
	if n := w.dumps.find("findme"); n < 10 { // the search finds what is there
		t.Errorf("what is not secret was found in %d places", n)
	}
	for kind, secret := range w.planted {
		for _, form := range forms(secret) {
			for _, place := range w.dumps.places(form) {
				t.Errorf("%s: found as %q in %s", kind, form, place)
			}
		}
	}
}

// rotate changes the key, as operators do, and drops the old one.
func (w *vaultWorld) rotate() {
	w.t.Helper()
	old, next := w.keys[0], w.newKey("k2")
	for _, keys := range [][]seal.Key{{next, old}, {next}} {
		if err := w.node.Stop(); err != nil {
			w.t.Error(err)
		}
		w.open(keys...)
		w.put("POST", "/secrets/rotate", "")
	}
	if answer := w.answer("POST", "/doctor", ""); strings.Contains(answer, `"example"`) {
		w.t.Errorf("after the rotation: %s", answer)
	}
	const job = "/jobCollections/default/jobs/edited"
	w.put("POST", job+"/run", "")
	w.await("a run with the new key", func() bool {
		return strings.Count(w.answer("GET", job+"/history", ""), `"status":"Completed"`) == 2
	})
}

// template shows all that a template can.
const template = `findme {{.Occurrence}} {{json .Data}} {{.Job}} {{.Key}} {{.Failure}} {{print .Data .Job .Failure}} {{printf "%v" .Data}}`

// jobs are the actions of jobs that run once, by the job's name.
func (w *vaultWorld) jobs() map[string]string {
	request := func(path, rest string) string {
		return fmt.Sprintf(`"type": "Http", "retryPolicy": {"retryType": "none"}, "request": {"method": "POST", "uri": %q, %s}`, w.plain.URL+path, rest)
	}
	basic := func(password string) string {
		return fmt.Sprintf(`"authentication": {"type": "Basic", "username": "me", "password": %s}`, password)
	}
	quote := func(s string) string { q, _ := json.Marshal(s); return string(q) } //nolint:errchkjson // a string
	oauth := func(path, style, secret string) string {
		return fmt.Sprintf(`"authentication": {"type": "OAuth2", "tokenUrl": %q, "authStyle": %q, "clientId": "me", "secret": %s}`,
			w.plain.URL+path, style, quote(secret))
	}
	w.planted["webhook key"] = strings.ToLower(rand.Text() + rand.Text())[:32]
	file := w.pfx("pl+nted" + rand.Text())
	return map[string]string{
		"basic":  request("/200", basic(quote(w.plant("basic password")))),
		"failed": request("/500", basic(quote(w.plant("failed basic password")))),
		"shared": request("/200", basic(`{"secretRef": "shared"}`)),
		"headers": request("/200", fmt.Sprintf(`"headers": {"X-Api-Key": %s, "Authorization": %s, "Cookie": %s}`,
			quote(w.plant("api key")), quote("Bearer "+w.plant("bearer token")), quote("session="+w.plant("cookie")))),
		"oauth":   request("/200", oauth("/token", "header", w.plant("client secret"))),
		"oauth2":  request("/200", oauth("/token", "body", w.plant("client secret in a body"))),
		"refused": request("/200", oauth("/refuse", "body", w.planted["refused client secret"])),
		"directory": request("/200", fmt.Sprintf(`"authentication": {"type": "ActiveDirectoryOAuth", "tenant": "t", "audience": "a",
			"clientId": "me", "secret": %s}`, quote(w.plant("directory secret")))),
		"webhook": request("/200", fmt.Sprintf(`"webhook": {"secret": %q}`,
			"whsec_"+base64.StdEncoding.EncodeToString([]byte(w.planted["webhook key"])))),
		"certificate": strings.Replace(request("/200", fmt.Sprintf(`"authentication": {"type": "ClientCertificate", "pfx": %q, "password": %s}`,
			file, quote(w.planted["pfx password"]))), w.plain.URL, w.secure.URL, 1),
		"template": request("/body", fmt.Sprintf(`"template": true, "body": %s, "headers": {"X-Api-Key": %s}, "success": {"bodyContains": "findme"}`,
			quote(template), quote(w.plant("api key beside a template")))),
		"event": request("/body", fmt.Sprintf(`"template": true, "envelope": "cloudEvents", "body": %s, "headers": {"X-Api-Key": {"secretRef": "shared"}}`,
			quote(template))),
		"told": strings.Replace(request("/500", `"headers": {"X-Api-Key": `+quote(w.plant("api key of what failed"))+`}`), `"retryPolicy"`,
			`"errorAction": {`+request("/body", `"template": true, "body": `+quote(template))+`}, "retryPolicy"`, 1),
		"nobody": strings.Replace(request("/200", basic(quote(w.plant("password for nobody")))), w.plain.URL, "http://127.0.0.1:1", 1),
		"error": strings.Replace(request("/500", basic(quote(w.plant("main password")))), `"retryPolicy"`,
			`"errorAction": {`+request("/200", basic(quote(w.plant("errorAction password"))))+`}, "retryPolicy"`, 1),
		"queue": fmt.Sprintf(`"type": "StorageQueue", "queueMessage": {"storageAccount": "mine", "queueName": "queue", "message": "m", "sasToken": %q}`,
			"sv=2024-01-01&sp=a&sig="+url.QueryEscape(w.plant("SAS signature"))),
		"bus": fmt.Sprintf(`"type": "ServiceBusQueue", "serviceBusQueueMessage": {"namespace": "me", "queueName": "q", "message": "m",
			"transportType": "AMQP", "authentication": {"type": "sharedAccessKey", "sasKeyName": "k", "sasKey": %s}}`, quote(w.plant("SAS key"))),
		"message": fmt.Sprintf(`"type": "natsMessage", "natsMessage": {"subject": "s", "message": "m", "servers": [%q], "user": "me", "password": %s}`,
			w.broker.ClientURL(), quote(w.planted["NATS password"])),
		"message2": fmt.Sprintf(`"type": "natsMessage", "retryPolicy": {"retryType": "none"}, "natsMessage": {"subject": "s", "message": "m",
			"servers": [%q], "token": %s}`, w.broker.ClientURL(), quote(w.plant("wrong NATS token"))),
	}
}

// pfx makes a client certificate with its key.
func (w *vaultWorld) pfx(password string) string {
	w.t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(w.t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "me"}, NotAfter: time.Now().Add(time.Hour)}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(w.t)
	leaf := must.Get(x509.ParseCertificate(der))(w.t)
	data := must.Get(pkcs12.Modern.Encode(key, leaf, nil, password))(w.t)
	text := base64.StdEncoding.EncodeToString(data)
	w.planted["pfx password"], w.planted["part of the pfx"] = password, text[200:300]
	return text
}

// checkDelivered makes sure that the secrets were used: what nobody sent could
// not be found either.
func (w *vaultWorld) checkDelivered(jobs map[string]string) {
	w.t.Helper()
	faulted := []string{"error", "failed", "refused", "message2", "nobody", "told"}
	for name := range jobs {
		state := `"state":"completed"`
		if slices.Contains(faulted, name) {
			state = `"state":"faulted"`
		}
		path := "/jobCollections/default/jobs/" + name
		if body := w.answer("GET", path, ""); !strings.Contains(body, state) {
			w.t.Errorf("%s is not %s: %s", name, state, w.answer("GET", path+"/history", ""))
		}
	}
	seen := w.mirror.seen.String()
	for _, kind := range []string{
		"basic password", "failed basic password", "shared", "api key", "bearer token", "cookie", "client secret", "client secret in a body",
		"directory secret", "main password", "api key beside a template", "api key of what failed", "errorAction password", "access token", "spec password", "new password",
	} {
		if !strings.Contains(seen, w.planted[kind]) {
			w.t.Errorf("the targets have not seen the %s", kind)
		}
	}
	if history := w.answer("GET", "/jobCollections/default/jobs/basic/history", ""); !strings.Contains(history, "***") {
		w.t.Errorf("nothing is hidden in %s", history)
	}
}

// overNATS publishes specs with secrets, right ones and wrong ones, and puts
// jobs through the micro service.
func (w *vaultWorld) overNATS() {
	w.t.Helper()
	job := func(kind, uri string) string {
		body := must.Get(json.Marshal(map[string]any{"description": "findme", "action": map[string]any{
			"type": "Http", "retryPolicy": map[string]any{"retryType": "none"},
			"request": map[string]any{"method": "POST", "uri": uri, "authentication": map[string]any{
				"type": "Basic", "username": "me", "password": w.plant(kind),
			}},
		}}))(w.t)
		return string(body)
	}
	uriPassword := rand.Text()
	w.planted["password in the URI of a spec"] = uriPassword
	results := must.Get(w.node.Conn.SubscribeSync("carillon.spec-result.>"))(w.t)
	cut, _, _ := strings.Cut(job("password of a cut spec", w.plain.URL), `","type":"Basic"`)
	for name, spec := range map[string]string{
		"accepted": job("spec password", w.plain.URL+"/200"), "wrong": job("password of a wrong spec", "nowhere"),
		"broken": job("password of a broken spec", w.plain.URL)[1:], "cut": cut,
		"uri":  job("password beside a URI", "http://admin:"+uriPassword+"/x@h/"),
		"yaml": "a: b\npassword: *" + rand.Text() + w.plant("alias in a spec"),
	} {
		must.Get(w.js.Publish(w.t.Context(), "carillon.spec.put.default."+name, []byte(spec)))(w.t)
	}
	for range 6 {
		m := must.Get(results.NextMsg(20 * time.Second))(w.t)
		w.dumps.add("NATS "+m.Subject, string(m.Data))
	}
	for subject, body := range map[string]string{
		"put.default.direct": job("password put over NATS", w.plain.URL+"/200"), "put.default.bad": job("password refused over NATS", "nowhere"),
		"secret-put.direct": `{"value": ` + string(marshaled(w.plant("shared secret set over NATS"))) + `}`,
		"secret-put.bad":    `{"value": "` + w.plant("shared secret refused over NATS") + `" `,
	} {
		w.request(subject, body)
	}
}

// edits puts, patches and refuses over REST.
func (w *vaultWorld) edits() {
	w.t.Helper()
	const job = "/jobCollections/default/jobs/edited"
	action := func(kind, uri string) string {
		return fmt.Sprintf(`"action": {"type": "Http", "request": {"method": "POST", "uri": %q, "authentication":
			{"type": "Basic", "username": "me", "password": %q}}}`, uri, w.plant(kind))
	}
	w.put("PUT", job, `{"startTime": "2099-01-01", `+action("old password", w.plain.URL+"/200")+`}`)
	w.put("PATCH", job, fmt.Sprintf(`{"action": {"request": {"authentication": {"password": %q}}}}`, w.plant("new password")))
	w.put("PATCH", job, `{"description": "findme"}`)
	w.put("POST", job+"/run", "")
	w.put("PUT", job+"?dryRun=true", `{"startTime": "2099-01-01", `+action("password of a dry run", w.plain.URL+"/200")+`}`)
	w.put("PATCH", job+"?dryRun=true", fmt.Sprintf(`{"action": {"request": {"authentication": {"password": %q}}}}`, w.plant("password of a dry patch")))
	inURI := func(kind, uri string) string {
		password := rand.Text()
		w.planted[kind] = password
		return action("password beside the "+kind, strings.ReplaceAll(uri, "PASSWORD", password))
	}
	for _, body := range []string{
		`{` + inURI("password in a URI", "http://admin:PASSWORD@h/") + `}`,
		`{` + inURI("password in a broken URI", "http://admin:PASSWORD/x@h/") + `}`,
		`{` + inURI("password in an escaped URI", "http://admin:%zzPASSWORD@h/") + `}`,
		`{` + action("password of a wrong document", "nowhere") + `}`, `{` + action("password of a broken document", w.plain.URL)[3:],
		`{"actoin": {}, ` + action("password of a misspelt document", w.plain.URL) + `}`,
	} {
		if answer := w.answer("PUT", job+"2", body); !strings.Contains(answer, `"error"`) {
			w.t.Errorf("accepted: %s", answer)
		}
	}
	w.answer("PUT", "/secrets/bad", fmt.Sprintf(`{"value": {"x": %q}}`, w.plant("shared secret refused")))
	w.answer("POST", "/preview", `{"startTime": "2099-01-01", `+action("password previewed", w.plain.URL)+`}`)
}

// ask asks everything that can be asked.
func (w *vaultWorld) ask() {
	w.t.Helper()
	for _, path := range []string{
		"/jobCollections", "/jobCollections/default", "/jobCollections/default/jobs", "/secrets", "/healthz", "/readyz", "/metrics", "/",
	} {
		w.answer("GET", path, "")
	}
	w.answer("POST", "/doctor", "")
	var page struct {
		Value []struct {
			Name string `json:"name"`
		} `json:"value"`
	}
	if err := json.Unmarshal([]byte(w.answer("GET", "/jobCollections/default/jobs", "")), &page); err != nil || len(page.Value) < 17 {
		w.t.Fatalf("%d jobs, %v", len(page.Value), err)
	}
	for _, job := range page.Value {
		_, name, _ := strings.Cut(job.Name, "/")
		w.answer("GET", "/jobCollections/default/jobs/"+name+"/history", "")
		w.request("get.default."+name, "")
		w.request("history.default."+name, "")
	}
	w.request("list.default", "")
	w.request("secret-list", "")
}
