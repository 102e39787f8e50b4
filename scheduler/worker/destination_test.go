package worker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/service"

	"github.com/carillon-sched/carillon/scheduler/view"
)

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
	inBubble(t, func(t *testing.T, w *world) {
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
				strings.Replace(string(view.JSON(v)), `"clientId":"c"`, `"clientId":"c","secret":"`+planted+`"`, 1),
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
			_, _, err := w.service.Put(t.Context(), service.Edit{Key: key("job"), Body: []byte(test.body)})
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
				w.must(nil, w.service.Delete(t.Context(), key("job"), 0))
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
	inBubble(t, func(t *testing.T, w *world) {
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
	inBubble(t, func(t *testing.T, w *world) {
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
	inBubble(t, func(t *testing.T, w *world) {
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
			edit := service.Edit{Key: key(name), Body: []byte(body), DryRun: true}
			var v *view.Job
			var err error
			if patch {
				v, err = w.service.Patch(t.Context(), edit)
			} else {
				v, _, err = w.service.Put(t.Context(), edit)
			}
			if err != nil {
				return err.Error()
			}
			return string(v.Result) + " " + string(view.JSON(v))
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
