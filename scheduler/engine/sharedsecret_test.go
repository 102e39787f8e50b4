package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/store/storetest"
)

const refers = `"action": {"type": "locked", "door": {"key": {"secretRef": "front"}, "name": "n"}}`

// set sets a shared secret.
func (w *harness) set(name, value string) *secrets.SharedSecret {
	w.t.Helper()
	s, _, err := w.service.PutSecret(w.t.Context(), name, []byte(`{"value": "`+value+`"}`))
	w.must(err)
	return s
}

// follow lets the service follow what changes in the store until the returned
// function is called.
func (w *harness) follow() (stop func()) {
	w.t.Helper()
	return storetest.Run(w.t, w.service.Run)
}

// TestSharedSecret shows that a changed secret counts at the next attempt, whichever process changes it.
func TestSharedSecret(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		k := newKey(t, "k1")
		w.service = w.newService(k)
		w.startWorker()
		defer w.follow()()
		second := control.New(control.Config{ // its vault is not the worker's
			Store: w.store, Actions: w.actions(),
			Secrets: secrets.NewVault(secrets.Config{Store: w.store.Secrets(), Keys: seal.NewKeyring(k)}),
		})
		w.set("front", planted)
		v := w.put("job", `{"recurrence": {"frequency": "minute"}, `+refers+`}`)
		if !strings.Contains(string(v1.JSON(v)), `"key":{"secretRef":"front"}`) {
			t.Errorf("shown as %s", v1.JSON(v))
		}
		time.Sleep(30 * time.Second)
		w.must(second.PutSecret(t.Context(), "front", []byte(`{"value": "`+other+`"}`)))
		time.Sleep(time.Minute)
		if got := w.calls(); got != "n "+planted+", n "+other {
			t.Errorf("the door was told %q", got)
		}
		if v := w.get("job"); v.Job.Generation != 1 {
			t.Errorf("generation %d", v.Job.Generation)
		}
		w.must(w.service.DeleteSecret(t.Context(), "front", true))
		time.Sleep(time.Minute)
		r := w.history("job")
		const want = `shared secret "front": there is none of that name; set it with "carillon secrets set"`
		if got := r[len(r)-1].Message; got != want {
			t.Errorf("recorded %q", got)
		}
	})
}

// rotate rotates and returns what the doors answer.
func (w *harness) rotate() string {
	w.t.Helper()
	r := must.Get(w.service.RotateSecrets(w.t.Context()))(w.t)
	data := must.Get(json.Marshal(r))(w.t)
	return string(data)
}

// process starts over with other keys, as a scheduler does that is restarted.
func (w *harness) process(keys ...seal.Key) {
	w.t.Helper()
	w.stopWorker()
	w.service = w.newService(keys...)
	w.startWorker()
}

// TestRotation shows that everything is sealed with the new key afterwards, and that the jobs go on as if nothing had been: with the
// new key alone, also amid an occurrence.
func TestRotation(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		k1, k2 := newKey(t, "k1"), newKey(t, "k2")
		w.process(k1)
		w.set("front", other)
		w.put("plain", `{"startTime": "2099-01-01T00:00:00Z", `+action+`}`)
		w.put("own", `{"recurrence": {"frequency": "minute"}, `+locked+`}`)
		w.put("shared", `{"recurrence": {"frequency": "minute"}, `+refers+`}`)
		w.put("over", `{`+locked+`}`)
		w.put("disabled", `{"state": "disabled", `+locked+`}`)
		time.Sleep(80 * time.Second)
		w.sink.answers(func(c *call) (int, string) {
			if c.n == 0 && strings.HasPrefix(c.key, "default/retried@") {
				return http.StatusInternalServerError, ""
			}
			return http.StatusOK, ""
		})
		w.put("retried", `{`+strings.TrimSuffix(locked, "}")+`, "retryPolicy": {"retryType": "fixed", "retryInterval": "PT1M", "retryCount": 1}}}`)
		time.Sleep(10 * time.Second)
		before := w.get("own")

		w.process(k2, k1)
		if got, want := w.rotate(), `{"key":"k2","jobs":4,"secrets":1,"skipped":0,"failures":0,"failed":[]}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := w.rotate(), `{"key":"k2","jobs":0,"secrets":0,"skipped":5,"failures":0,"failed":[]}`; got != want {
			t.Errorf("repeated: got %s, want %s", got, want)
		}
		after := w.get("own")
		if after.Job.Generation != 1 || !after.Job.Updated.Equal(before.Job.Updated) || after.Status != before.Status {
			t.Errorf("the job was %+v and is %+v", before.Status, after.Status)
		}

		w.process(k2)
		n := len(w.sink.seen())
		time.Sleep(2 * time.Minute)
		if got := len(w.sink.seen()) - n; got != 5 {
			t.Errorf("%d calls in two minutes", got)
		}
		w.wantHistory("own", "completed completed completed completed")
		w.wantHistory("retried", "failed completed")
		for _, name := range []string{"own", "over", "disabled", "retried"} {
			if raw := w.raw(name); strings.Contains(raw, planted) || !strings.Contains(raw, `"v1.k2.`) {
				t.Errorf("stored as %s", raw)
			}
		}
		w.mustBeInOrder()
	})
}

// keyed is a job with secrets that it may have or not.
const keyed = `{"properties": {"startTime": "2099-01-01T00:00:00Z", "action": {"type": "Https", "request": {"method": "GET",
	"uri": "https://shop.example.com/a", "headers": {"X-Api-Key": "` + planted + `", "Accept": "*/*"},
	"authentication": {"type": "OAuth2", "tokenUrl": "https://login.example.com/north", "clientId": "c", "secret": "` + planted + `"}},
	"errorAction": {"type": "Http", "request": {"method": "GET", "uri": "http://mail.example.com/",
		"headers": {"Session-Id": "` + planted + `", "X-Tenant": {"secretRef": "tenant"}}}}}}}`

// The places of their secrets.
const (
	atKey     = "action.request.headers.X-Api-Key"
	atSecret  = "action.request.authentication.secret"
	atSession = "action.errorAction.request.headers.Session-Id"
)

// TestPutWithoutSecrets shows that a job which is put as get shows it, or without what get does not show, does not lose
// its secrets.
func TestPutWithoutSecrets(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.set("tenant", "north")
		v := w.put("job", keyed)
		const lost = " is a secret that the job has and the new document leaves out; send it again, write null to drop it, or use PATCH"
		without := func(old ...string) string { return strings.NewReplacer(old...).Replace(keyed) }
		const apiKey, session = `"X-Api-Key": "` + planted + `", `, `"Session-Id": "` + planted + `", `
		main, _, _ := strings.Cut(keyed, ",\n\t\"errorAction\"")
		bare := strings.TrimSuffix(strings.TrimPrefix(without(apiKey, ""), `{"properties": `), "}")
		refused := map[string]struct {
			body string
			want []string
		}{
			"as it was shown": {
				strings.Replace(string(v1.JSON(v)), `"clientId":"c"`, `"clientId":"c","secret":"`+planted+`"`, 1),
				[]string{"properties." + atKey + ":" + lost, "properties." + atSession + ":" + lost},
			},
			"a header":      {without(apiKey, ""), []string{"properties." + atKey + ":" + lost}},
			"not wrapped":   {bare, []string{atKey + ":" + lost}},
			"all headers":   {without(`"headers": {`+apiKey+`"Accept": "*/*"},`, ""), []string{"properties." + atKey + ":" + lost}},
			"errorAction's": {without(session, ""), []string{"properties." + atSession + ":" + lost}},
			"another type":  {without(session, "", `"type": "Https"`, `"type": "Http"`), []string{"properties." + atSession + ":" + lost}},
			"http":          {without(apiKey, "", `"type": "Https"`, `"type": "Http"`), []string{"properties." + atKey + ":" + lost}},
		}
		for name, test := range refused {
			_, _, err := w.service.Put(t.Context(), control.Edit{Key: key("job"), Body: []byte(test.body)})
			if got := problems(t, err); got != strings.Join(test.want, "\n") {
				t.Errorf("%s: got %s", name, got)
			}
		}
		if again := w.put("job", keyed); again.Job.Generation != 1 {
			t.Errorf("put again as it was: generation %d", again.Job.Generation)
		}
		for name, body := range map[string]string{
			"null for a header":          without(`"X-Api-Key": "`+planted+`"`, `"x-api-key": null`),
			"null for all":               without(`{`+apiKey+`"Accept": "*/*"}`, "null"),
			"a name instead":             without(`"X-Api-Key": "`+planted+`"`, `"X-Api-Key": {"secretRef": "tenant"}`),
			"no errorAction":             main + "}}}",
			"another authentication":     without(`"OAuth2", "tokenUrl": "https://login.example.com/north", "clientId": "c", "secret": "`+planted+`"`, `"Basic", "username": "u", "password": "p"`),
			"a new job without a secret": "",
		} {
			if body == "" {
				w.must(w.service.Delete(t.Context(), key("job"), 0))
				body = without(apiKey, "")
			}
			w.put("job", body)
			w.put("job", keyed)
			if strings.Count(w.raw("job"), "$sealed") != 3 {
				t.Errorf("%s: stored as %s", name, w.raw("job"))
			}
		}
	})
}

// TestPatchElsewhere shows that a patch cannot send the secrets of a job where its writer reads them.
func TestPatchElsewhere(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.set("tenant", "north")
		w.put("job", keyed)
		belongs := func(path, from, to string) string {
			return path + ": belongs to " + from + "; send it again to use it with " + to + ", or use a secretRef"
		}
		const shop, login, mail = "https://shop.example.com", "token server https://login.example.com/north", "http://mail.example.com"
		refused := map[string][]string{
			`{"action": {"request": {"uri": "https://evil.example.com/a"}}}`: {
				belongs(atKey, shop, "https://evil.example.com"), belongs(atSecret, shop, "https://evil.example.com"),
			},
			`{"properties": {"ACTION": {"REQUEST": {"URI": "https://shop.example.com:8443/a"}}}}`: {
				belongs(atKey, shop, shop+":8443"), belongs(atSecret, shop, shop+":8443"),
			},
			`{"action": {"type": "http", "request": {"uri": "http://shop.example.com:443/a"}}}`: {
				belongs(atKey, shop, "http://shop.example.com:443"), belongs(atSecret, shop, "http://shop.example.com:443"),
			},
			`{"action": {"request": {"uri": "https://evil.example.com/a", "headers": {"x-api-key": "mine"}}}}`: {
				belongs(atSecret, shop, "https://evil.example.com"),
			},
			`{"action": {"request": {"authentication": {"tokenUrl": "https://login.example.com/south"}}}}`: {
				belongs(atKey, login, "token server https://login.example.com/south"),
				belongs(atSecret, login, "token server https://login.example.com/south"),
			},
			`{"action": {"errorAction": {"request": {"uri": "http://evil.example.com/"}}}}`: {
				belongs(atSession, mail, "http://evil.example.com"),
			},
		}
		for body, want := range refused {
			_, err := w.patch("job", body)
			if got := problems(t, err); got != strings.Join(want, "\n") {
				t.Errorf("%s: got %s, want %s", body, got, want)
			}
		}
		for _, body := range []string{ // in this order
			`{"description": "d", "action": {"request": {"uri": "https://SHOP.example.com/b?c", "method": "POST"}}}`,
			`{"action": {"errorAction": {"request": {"uri": "https://mail.example.com/"}}}}`,
			`{"action": {"errorAction": {"request": {"uri": "http://new.example.com/", "headers": {"Session-Id": null}}}}}`,
			`{"action": {"errorAction": {"request": {"uri": "http://newer.example.com/"}}}}`, // with a shared secret
			`{"action": {"request": {"uri": "https://new.example.com/", "headers": {"x-api-key": "mine"}, "authentication": {"secret": "mine"}}}}`,
			`{"action": {"request": {"uri": "https://newer.example.com/", "headers": {"x-api-key": {"secretRef": "tenant"}}, "authentication": null}}}`,
			`{"action": {"request": {"uri": "https://newest.example.com/"}}}`,
		} {
			if _, err := w.patch("job", body); err != nil {
				t.Errorf("%s: %v", body, err)
			}
		}
	})
}

// TestPatchElsewhereWithoutTheKey shows that not even a secret which this process cannot open is sent elsewhere: another
// one may.
func TestPatchElsewhereWithoutTheKey(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.set("tenant", "north")
		w.put("job", keyed)
		w.service = w.newService(newKey(t, "k2"))
		_, err := w.patch("job", `{"action": {"request": {"uri": "https://evil.example.com/"}}}`)
		if got := problems(t, err); strings.Count(got, "belongs to https://shop.example.com") != 2 {
			t.Errorf("got %s", got)
		}
		if _, err := w.patch("job", `{"description": "d"}`); err != nil {
			t.Error(err)
		}
	})
}

// TestDryRunTellsNoSecret guesses the secrets of jobs, those that wait and those that are at their end, in dry runs, which
// leave no trace: a right guess is answered as a wrong one is.
func TestDryRunTellsNoSecret(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.set("tenant", "north")
		over := strings.Replace(keyed, `"startTime": "2099-01-01T00:00:00Z", `, "", 1)
		w.put("waits", keyed)
		w.put("over", over)
		time.Sleep(time.Hour)
		if got := w.get("over").Job.State; !got.Final() {
			t.Fatalf("it is %s", got)
		}
		guess := func(body, secret string) string { return strings.ReplaceAll(body, planted, secret) }
		ask := func(name, body string, patch bool) string {
			t.Helper()
			edit := control.Edit{Key: key(name), Body: []byte(body), DryRun: true}
			var v *v1.Job
			var err error
			if patch {
				v, err = w.service.Patch(t.Context(), edit)
			} else {
				v, _, err = w.service.Put(t.Context(), edit)
			}
			if err != nil {
				return err.Error()
			}
			return string(v.Result) + " " + string(v1.JSON(v))
		}
		const patch = `{"action": {"request": {"headers": {"X-Api-Key": "` + planted + `"}}}}`
		const turned = `{"state": "enabled", "action": {"request": {"authentication": {"secret": "` + planted + `"}}}}`
		for _, name := range []string{"waits", "over"} {
			for body, patches := range map[string]bool{
				map[string]string{"waits": keyed, "over": over}[name]: false, patch: true, turned: true,
			} {
				before := w.raw(name)
				right, wrong := ask(name, guess(body, planted), patches), ask(name, guess(body, "wr0ng-guess-1"), patches)
				if right != wrong || strings.Contains(right, "nchanged") {
					t.Errorf("%s: %s:\nright %s\nwrong %s", name, body, right, wrong)
				}
				if w.raw(name) != before {
					t.Errorf("%s: a dry run has changed it", name)
				}
			}
		}
		if got := ask("waits", `{"description": null}`, true); !strings.HasPrefix(got, "unchanged ") {
			t.Errorf("a patch that brings no secret: %s", got)
		}
	})
}

// defaults puts the defaults of the default collection.
func (w *harness) defaults(text string) error {
	_, _, err := w.service.PutCollection(w.t.Context(), scheduler.DefaultCollection, []byte(`{"properties": {"defaults": `+text+`}}`))
	time.Sleep(time.Second)
	return err
}

// mustCall fails the test unless the last calls were to these hosts.
func (w *harness) mustCall(want string) {
	w.t.Helper()
	var hosts []string
	for _, c := range w.sink.seen() {
		host, _, _ := strings.Cut(c.host, ".")
		hosts = append(hosts, host)
	}
	if got := strings.Join(hosts, " "); !strings.HasSuffix(got, want) {
		w.t.Errorf("called %q, want %q at the end", got, want)
	}
}

// TestCollectionDefaults: jobs inherit what they do not set, views and selectors show it, an occurrence that has begun keeps
// the defaults that it began with, and the definition stays as it was put.
func TestCollectionDefaults(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(failingAt("main"))
		action := func(host string) string {
			return `{"type": "Http", "request": {"uri": "http://` + host + `.example/", "method": "POST"}`
		}
		w.put("job", `{"recurrence": {"frequency": "day"}, "labels": {"team": "own"}, "action": `+action("main")+`}}`)
		w.put("other", `{"recurrence": {"frequency": "day"}, "timeout": "PT9S", "action": `+action("fine")+`, "retryPolicy": {"retryType": "none"}, "errorAction": `+action("own")+`}}}`)
		time.Sleep(time.Hour) // the first occurrences end without any defaults
		w.mustCall("main main main main")
		revision := w.get("job").Job.Revision
		if err := w.defaults(`{"timeout": "PT7S", "labels": {"team": "all", "tier": "1"},
			"retryPolicy": {"retryType": "fixed", "retryInterval": "PT1M", "retryCount": 1}, "errorAction": ` + action("alert") + `}}`); err != nil {
			t.Fatal(err)
		}
		v := w.get("job")
		const want = `"inherited":{"timeout":"PT7S","labels":{"tier":"1"},"retryPolicy":{"retryType":"fixed","retryInterval":"PT1M","retryCount":1},"errorAction":{`
		if shown := string(v1.JSON(v)); !strings.Contains(shown, want) || v.Job.Revision != revision || strings.Contains(string(v.Job.Def.Properties()), "alert") {
			t.Errorf("shown as %s, want %s", shown, want)
		}
		if shown := string(v1.JSON(w.get("other"))); !strings.Contains(shown, `"inherited":{"labels":{"team":"all","tier":"1"}}`) || w.get("other").Job.Def.Timeout != 9*time.Second {
			t.Errorf("the job with settings of its own is shown as %s", shown)
		}
		for selector, want := range map[string]int{"tier=1": 2, "team=all": 1, "team=own": 1, "tier!=1": 0} {
			s := must.Get(scheduler.ParseSelector(selector))(t)
			found, _, err := w.service.Search(t.Context(), scheduler.JobQuery{Labels: s}, v1.Page{})
			if err != nil || len(found) != want {
				t.Errorf("%s finds %d jobs, %v; want %d", selector, len(found), err, want)
			}
		}
		run := func() {
			t.Helper()
			w.must(w.service.Trigger(t.Context(), key("job")))
			time.Sleep(time.Second)
		}
		run()
		time.Sleep(3 * time.Minute)
		w.mustCall("main main alert")
		run()
		w.must(w.defaults(`{"errorAction": ` + action("later") + `}, "retryPolicy": {"retryType": "none"}}`))
		time.Sleep(3 * time.Minute)
		w.mustCall("main main alert") // it began with the earlier ones
		run()
		time.Sleep(3 * time.Minute)
		w.mustCall("alert main later")
		// The default retry policy is that of the main action. The errorAction of a job has its own, of 4 retries if it names none.
		w.put("third", `{"startTime": "2001-01-01T00:00:00Z", "action": `+action("main")+`, "errorAction": `+action("main")+`}}}`)
		w.must(w.service.Trigger(t.Context(), key("third")))
		time.Sleep(time.Hour)
		w.mustCall("later main main main main main main")
	})
}

// slowDefaults is a store that takes an hour to read earlier settings of a collection.
type slowDefaults struct{ scheduler.Store }

func (s slowDefaults) Collections() scheduler.CheckedBucket { return slowBucket{s.Store.Collections()} }

type slowBucket struct{ scheduler.CheckedBucket }

func (b slowBucket) LoadAt(ctx context.Context, name string, revision uint64) (scheduler.Stored, error) {
	time.Sleep(time.Hour)
	return b.CheckedBucket.LoadAt(ctx, name, revision)
}

// TestRetryWaitsAloneForItsDefaults retries an occurrence that began with other defaults, which the store reads slowly: other runs
// start on time.
func TestRetryWaitsAloneForItsDefaults(t *testing.T) {
	inWorld(t, func(_ *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.Store = slowDefaults{w.store} })
		w.must(w.defaults(`{"timeout": "PT7S"}`))
		w.sink.answer = func(c *call) (int, string) {
			if c.n == 0 && c.host == "down.example" {
				return http.StatusBadGateway, ""
			}
			return http.StatusOK, ""
		}
		w.put("a", `{"action": `+retried("down", `"retryInterval": "PT10S", "retryCount": 1`)+`}`)
		w.put("b", `{"startTime": "2000-01-01T00:01:00Z", `+action+`}`)
		time.Sleep(5 * time.Second)
		w.must(w.defaults(`{"timeout": "PT8S"}`))
		time.Sleep(time.Minute)
		w.wantHistory("b", "completed")
		time.Sleep(2 * time.Hour)
		w.wantHistory("a", "failed completed")
	})
}

// TestCollectionDefaultsRefused: what is wrong with defaults is refused with its path, secrets included, and a shared secret
// that they refer to is in use.
func TestCollectionDefaultsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(func(*call) (int, string) { return http.StatusOK, "" })
		const hook = `"request": {"uri": "http://alert.example/", "method": "POST", "authentication": {"type": "Basic", "username": "u", "password": `
		for text, want := range map[string]string{
			`1`:                                   "properties.defaults: must be an object",
			`{"timeout": "PT9H"}`:                 "properties.defaults.timeout: ",
			`{"jitter": "PT1S"}`:                  "properties.defaults.jitter: unknown field",
			`{"labels": {"": "a"}}`:               "properties.defaults.labels: ",
			`{"retryPolicy": {"retryCount": 99}}`: "properties.defaults.retryPolicy.retryCount: ",
			`{"errorAction": {"type": "None"}}`:   "properties.defaults.errorAction.type: ",
			`{"errorAction": {"type": "Http", ` + hook + `"plain"}}}}`:           "properties.defaults.errorAction: must not contain a secret",
			`{"errorAction": [{"type": "Http", "request": {"method": "POST"}}]}`: "properties.defaults.errorAction[0].request.uri: ",
		} {
			if err := w.defaults(text); !errors.Is(err, scheduler.ErrInvalid) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
		}
		w.must(w.service.PutSecret(t.Context(), "slack", []byte(`{"value": "hidden"}`)))
		w.must(w.defaults(`{"errorAction": {"type": "Http", ` + hook + `{"secretRef": "slack"}}}}}`))
		if err := w.service.DeleteSecret(t.Context(), "slack", false); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("a secret that defaults refer to is deleted: %v", err)
		}
	})
}
