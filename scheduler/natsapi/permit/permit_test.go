package permit_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
	"github.com/carillon-sched/carillon/scheduler/natsapi/permit"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// patience bounds every wait of a test that something happens.
const patience = 30 * time.Second

// harness is a NATS server with the example's configuration, and a scheduler on it.
type harness struct {
	t       *testing.T
	server  *server.Server
	service *control.Service

	mu         sync.Mutex
	violations map[*nats.Conn]string // what the server has denied each user so far, a line each
}

// note stores what the server denies. The client calls it in the order of the denials.
func (w *harness) note(nc *nats.Conn, _ *nats.Subscription, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(err, nats.ErrPermissionViolation) {
		w.violations[nc] += err.Error() + "\n"
	}
}

// denials returns what the server has denied a user, after all that the user has asked for.
func (w *harness) denials(nc *nats.Conn) (all string) {
	w.t.Helper()
	const last = "$SYS.the.end"
	must.Do(w.t, nc.Publish(last, nil))
	w.await("the last denial", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		all = w.violations[nc]
		return strings.Contains(all, `"`+last+`"`)
	})
	return all
}

// newHarness starts one; apart is false for users in the account of the scheduler.
func newHarness(t *testing.T, apart bool) *harness {
	t.Helper()
	options := exampleOptions(t)
	if !apart {
		for _, u := range options.Users {
			u.Account = options.Users[slices.IndexFunc(options.Users, func(u *server.User) bool { return u.Username == "carillon" })].Account
		}
	}
	options.Port, options.StoreDir, options.NoLog, options.NoSigs = server.RANDOM_PORT, t.TempDir(), true, true
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the NATS server does not start")
	}
	w := &harness{t: t, server: s, violations: map[*nats.Conn]string{}}
	nc := w.connect("carillon")
	var st *store.Store
	w.await("the store", func() bool {
		st, err = store.Open(t.Context(), nc, store.Config{})
		return err == nil || !strings.Contains(err.Error(), "JetStream")
	})
	if err != nil {
		t.Fatal(err)
	}
	k := must.Get(seal.NewKey("k1"))(t)
	w.service = control.New(control.Config{
		Store: st, Actions: actions.New(web.New(web.Config{})),
		Secrets: secrets.NewVault(secrets.Config{Store: st.Secrets(), Keys: seal.NewKeyring(k)}),
	})
	must.Do(t, w.service.EnsureDefault(t.Context()))
	w.run(natsapi.NewAPI(natsapi.APIConfig{Conn: nc, Service: w.service}).Run)
	w.run(natsapi.NewIngest(natsapi.IngestConfig{Service: w.service, Source: st}).Run)
	admin := w.user("admin")
	// The endpoint for secrets is among the last ones.
	w.await("the API", func() bool { _, err := admin.Request("carillon.api.secret-list", nil, patience); return err == nil })
	for _, c := range []string{"partners", "other"} {
		w.mustAnswer(admin, "carillon.api.collection-put."+c, "")
		w.mustAnswer(admin, "carillon.api.put."+c+".job", job)
	}
	return w
}

const job = `{"action": {"type": "http", "request": {"method": "GET", "uri": "http://example.org/"}}, "state": "disabled"}`

// run runs a part of the scheduler until the test ends.
func (w *harness) run(part func(context.Context) error) {
	storetest.Run(w.t, part)
}

// connect connects as a user of the example.
func (w *harness) connect(user string, options ...nats.Option) *nats.Conn {
	w.t.Helper()
	password := "change-me-" + user
	if user == "carillon" {
		password = "change-me-scheduler"
	}
	nc := must.Get(nats.Connect(w.server.ClientURL(), append(options, nats.UserInfo(user, password),
		nats.ErrorHandler(w.note))...))(w.t)
	w.t.Cleanup(nc.Close)
	return nc
}

// user connects as one that has an inbox of its own.
func (w *harness) user(name string) *nats.Conn {
	w.t.Helper()
	return w.connect(name, nats.CustomInboxPrefix("_INBOX_"+name))
}

func (w *harness) await(what string, ok func() bool) {
	w.t.Helper()
	must.Await(w.t, what, ok)
}

func (w *harness) mustAnswer(nc *nats.Conn, subject, body string) *nats.Msg {
	w.t.Helper()
	m, err := nc.Request(subject, []byte(body), patience)
	if err != nil {
		w.t.Fatalf("%s: %v", subject, err)
	}
	if code := m.Header.Get("Nats-Service-Error-Code"); code != "" {
		w.t.Fatalf("%s: %s %s", subject, code, m.Data)
	}
	return m
}

// least is what each subject needs, written down a second time: r reader, w operator, a admin of the collection, A of all,
// R reader of all; p publishers may, too.
var least = map[string]string{
	"api.get.C.job": "r", "api.list.C": "r", "api.history.C.job": "r", "api.history.C": "r", "api.collection-get.C": "r",
	"api.follow.C.job": "r", "api.follow.C": "r", "api.follow": "R", "api.unfollow.t": "any", "api.why.C.job": "r", "api.account.C.job": "r",
	"api.preview": "any", "api.list": "R", "api.history": "R", "api.collection-list": "R",
	"api.put.C.job": "w", "api.patch.C.job": "w", "api.delete.C.none": "w", "api.run.C.job": "w", "api.resubmit.C.job": "w",
	"api.enable.C.job": "w", "api.disable.C.job": "w", "api.pause.C.job": "w", "api.cancel.C.job": "w", "api.try.C.job": "w",
	"api.collection-cancel.C": "w",
	"api.forecast.C":          "r", "api.forecast": "R", "api.audit.C.job": "a", "api.audit.C": "a", "api.audit": "A",
	"api.follow-audit.C.job": "a", "api.follow-audit.C": "a", "api.follow-audit": "A",
	"api.collection-put.C": "a", "api.collection-patch.C": "a", "api.collection-delete.C": "a", "api.collection-enable.C": "a",
	"api.collection-disable.C": "a",
	"api.operation-list.C":     "r", "api.operation-list": "R", "api.operation-get.ID.C": "r", "api.operation-get.ID": "R",
	"api.operation-create.C": "w", "api.operation-create": "W", "api.operation-cancel.ID.C": "w", "api.operation-cancel.ID": "W",
	"api.activity": "R", "api.failure-list.C": "r", "api.failure-list": "R", "api.failure-get.ID.C": "r", "api.failure-get.ID": "R",
	"api.failure-ack.ID.C": "w", "api.failure-ack.ID": "W", "api.failure-mute.ID.C": "w", "api.failure-mute.ID": "W",
	"api.failure-reopen.ID.C": "w", "api.failure-reopen.ID": "W",
	"api.event-list.C": "r", "api.event-list": "R", "api.event-get.ID.C": "r", "api.event-get.ID": "R", "event.C.e": "wp",
	"api.source-list.C": "r", "api.source-list": "R", "api.source-get.C.s": "r", "api.source-put.C.s": "w", "api.source-patch.C.s": "w",
	"api.source-delete.C.s": "w",
	"api.secret-put.s":      "A", "api.secret-delete.s": "A", "api.secret-list": "A", "api.secret-rotate": "A",
	"api.graph.C": "r", "api.graph": "R", "api.event-test.C.job": "r", "api.event-replay.C.job": "w",
	"spec.put.C.job": "wp", "spec.patch.C.job": "wp", "spec.delete.C.none": "wp", "spec.run.C.job": "wp", "spec.enable.C.job": "wp",
	"spec.disable.C.job": "wp", "spec.pause.C.job": "wp", "spec.resubmit.C.job": "wp",
	"sub history.C.>": "r", "sub spec-result.*.C.>": "rp", "sub audit.job.C.>": "a", "sub audit.collection.C": "a", "sub audit.source.C.>": "a", "sub audit.>": "A",
	"sub history.>": "R", "sub spec-result.>": "R", "sub spec.>": "", "sub api.>": "", "sub fire.>": "", "sub timer.>": "", "sub changed.>": "", "sub >": "",
}

// TestEverySubjectIsInTheTable finds a subject that some role has, of all collections or of one, and that the table above does not try.
func TestEverySubjectIsInTheTable(t *testing.T) {
	for _, collections := range [][]string{nil, {"C"}} {
		p := must.Get(permit.For(permit.Config{Role: permit.Admin, Collections: collections}))(t)
		tried := func(kind, subject string) bool {
			pattern, ours := strings.CutPrefix(subject, "carillon.")
			for row, needs := range least {
				name, of := strings.CutPrefix(row, "sub ")
				narrow := kind == "sub" && collections != nil // then the rows have the very subjects
				if needs != "" && of == (kind == "sub") && (name == pattern || !narrow && server.SubjectsCollide(name, pattern)) {
					return true
				}
			}
			return !ours
		}
		for _, subject := range p.Publish {
			if !tried("pub", subject) {
				t.Errorf("nobody tries to publish %s: give it a row in least, with the right that it needs", subject)
			}
		}
		for _, subject := range p.Subscribe {
			if !tried("sub", subject) {
				t.Errorf("nobody tries to hear %s", subject)
			}
		}
	}
}

// forbidden are the subjects that no user has, in whatever account.
var forbidden = []string{
	"$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.DELETE.CARILLON_HISTORY", "$JS.API.STREAM.PURGE.CARILLON_AUDIT",
	"$JS.API.STREAM.UPDATE.KV_carillon-jobs", "$JS.API.STREAM.CREATE.MINE", "$JS.API.STREAM.MSG.GET.KV_carillon-secrets",
	"$JS.API.STREAM.MSG.DELETE.CARILLON_AUDIT", "$JS.API.DIRECT.GET.KV_carillon-secrets",
	"$JS.API.DIRECT.GET.KV_carillon-secrets.$KV.carillon-secrets.s", "$JS.API.CONSUMER.CREATE.CARILLON_TIMERS_0",
	"$JS.API.CONSUMER.MSG.NEXT.CARILLON_TIMERS_0.workers", "$JS.API.CONSUMER.DELETE.CARILLON_TIMERS_0.workers",
	"$JS.API.CONSUMER.PAUSE.CARILLON_TIMERS_0.workers", "$JS.ACK.CARILLON_TIMERS_0.workers.1.1.1.1.0",
	"$KV.carillon-jobs.partners.job", "$KV.carillon-jobs.other.job", "$KV.carillon-secrets.s", "$KV.carillon-settings.lanes",
	"$KV.carillon-collections.partners", "$KV.carillon-tokens.t",
	"carillon.fire.0.partners.job", "carillon.timer.0.partners.job", "carillon.history.partners.job.completed",
	"carillon.audit.job.partners.job", "carillon.spec-result.accepted.partners.job", "carillon.changed.jobs.partners.job",
	"carillon.presence.one.x", "$SYS.REQ.SERVER.PING", "_INBOX.x", "_INBOX_admin.x",
}

// may says what a user may do, by what a subject needs.
func may(c permit.Config, needs, collection string) bool {
	within := len(c.Collections) == 0 || slices.Contains(c.Collections, collection)
	rank := map[permit.Role]int{permit.Reader: 1, permit.Operator: 2, permit.Admin: 3}[c.Role]
	switch needs {
	case "any":
		return rank >= 1
	case "r", "rp":
		return within && (rank >= 1 || needs == "rp" && c.Role == permit.Publisher)
	case "w", "wp":
		return within && (rank >= 2 || needs == "wp" && c.Role == permit.Publisher)
	case "a":
		return within && rank >= 3
	case "R":
		return len(c.Collections) == 0 && rank >= 1
	case "W":
		return len(c.Collections) == 0 && rank >= 2
	case "A":
		return len(c.Collections) == 0 && rank >= 3
	}
	return false
}

// TestRolesOverNATS is the table of role, operation and collection over NATS, on a server with the example's
// configuration, and with all users in the account of the scheduler.
func TestRolesOverNATS(t *testing.T) {
	for name, apart := range map[string]bool{"accounts": true, "one account": false} {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, apart)
			for user, c := range exampleUsers {
				if c.Role != permit.Scheduler {
					w.checkUser(user, c)
				}
			}
		})
	}
}

// checkUser tries everything as a user. What it may is tried in a collection that there is not, so that nothing is changed.
func (w *harness) checkUser(user string, c permit.Config) {
	w.t.Helper()
	nc := w.user(user)
	allowed := map[string]bool{} // by what the server says of it where it is not
	hears := func(subject string, want bool) {
		allowed[`Subscription to "`+subject+`"`] = want
		must.Get(nc.SubscribeSync(subject))(w.t)
	}
	publishes := func(subject string, want bool) {
		allowed[`Publish to "`+subject+`"`] = want
		must.Do(w.t, nc.PublishRequest(subject, nc.NewInbox(), nil))
	}
	for subject, needs := range least {
		for _, collection := range []string{"partners", "other"} {
			name, want := strings.ReplaceAll(subject, "C", collection), may(c, needs, collection)
			if heard, ok := strings.CutPrefix(name, "sub "); ok {
				hears("carillon."+heard, want)
			} else {
				publishes("carillon."+name, want)
			}
		}
	}
	for _, subject := range forbidden {
		if subject != "_INBOX_"+user+".x" {
			publishes(subject, false)
		}
	}
	for _, subject := range []string{"_INBOX.>", "_INBOX_carillon.>", "_INBOX_admin.>", "$KV.>", "$JS.>", "$SYS.>", "_R_.>"} {
		hears(subject, subject == "_INBOX_"+user+".>")
	}
	denied := w.denials(nc)
	for what, want := range allowed {
		if got := !strings.Contains(denied, what); got != want {
			w.t.Errorf("%s: %s: allowed %v, want %v", user, what, got, want)
		}
	}
}

// TestServerTellsTheAuditLogWhoAsked shows that the user is told by the server, and not by the user.
func TestServerTellsTheAuditLogWhoAsked(t *testing.T) {
	w := newHarness(t, true)
	m := nats.NewMsg("carillon.api.enable.partners.job")
	m.Header.Set("Nats-Request-Info", `{"acc":"USERS","user":"admin"}`)
	m.Header.Set(natsapi.ClaimHeader, "admin")
	must.Get(w.user("partners-operator").RequestMsg(m, patience))(t)
	e := w.last()
	if e.Op != "enable" || e.By.Name != "partners-operator" || e.By.Via != "nats" || e.By.Address == "" || e.Claim != "" {
		t.Errorf("told: %+v, claim %q", e.By, e.Claim)
	}
}

// TestChangesWithoutAnAskerAreRefused asks for changes without a reply subject, and with a trace: nothing is changed, as the audit
// log would not get who asked.
func TestChangesWithoutAnAskerAreRefused(t *testing.T) {
	w := newHarness(t, true)
	before := w.last()
	nc := w.user("partners-operator")
	must.Do(t, nc.Publish("carillon.api.enable.partners.job", nil))
	m := nats.NewMsg("carillon.api.enable.partners.job")
	m.Header.Set("Nats-Trace-Dest", "carillon.api.get.partners.none") // which the user may publish to
	if resp, err := nc.RequestMsg(m, patience); err != nil || resp.Header.Get("Nats-Service-Error-Code") != "400" {
		t.Errorf("a traced change: %+v, %v", resp, err)
	}
	if resp, err := nc.Request("carillon.api.get.partners.job", nil, patience); err != nil || !strings.Contains(strings.ToLower(string(resp.Data)), `"state":"disabled"`) {
		t.Errorf("after the changes: %+v, %v", resp, err)
	}
	if e := w.last(); e.Sequence != before.Sequence {
		t.Errorf("changed: %+v", e)
	}
}

// TestForgedInfoIsNotBelieved shows that within the scheduler's account, where the server says nothing, nobody passes for
// another.
func TestForgedInfoIsNotBelieved(t *testing.T) {
	w := newHarness(t, false)
	m := nats.NewMsg("carillon.api.enable.partners.job")
	m.Header.Set("Nats-Request-Info", `{"acc":"USERS","user":"admin"}`)
	m.Header.Set(natsapi.ClaimHeader, "mallory")
	must.Get(w.user("partners-operator").RequestMsg(m, patience))(t)
	if e := w.last(); e.By.Name != "" || e.By.Via != "nats" || e.Claim != "mallory" {
		t.Errorf("told: %+v, claim %q", e.By, e.Claim)
	}
}

// TestTailsReachUsers shows that all messages of a live tail come, from the first to the last, and that who has it can end
// it.
func TestTailsReachUsers(t *testing.T) {
	for name, apart := range map[string]bool{"accounts": true, "one account": false} {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, apart)
			nc := w.user("partners-reader")
			answers := must.Get(nc.SubscribeSync(nc.NewInbox()))(t)
			must.Do(t, nc.PublishRequest("carillon.api.follow.partners.job", answers.Subject, nil))
			first := must.Get(answers.NextMsg(patience))(t)
			if first.Header.Get("Carillon-Tail") == "" {
				t.Fatalf("no tail: %v %s", first.Header, first.Data)
			}
			must.Do(t, nc.Publish("carillon.api.unfollow."+first.Header.Get("Carillon-Tail"), nil))
			last := must.Get(answers.NextMsg(patience))(t)
			if got := last.Header.Get("Carillon-Number") + " " + last.Header.Get("Carillon-Tail"); got != "1 again" {
				t.Errorf("the tail ends with %q", got)
			}
		})
	}
}

// last is the last change in the audit log.
func (w *harness) last() *audit.Entry {
	w.t.Helper()
	entries, _, err := w.service.Trail(w.t.Context(), control.TrailQuery{}, v1.Page{Top: 1})
	if err != nil || len(entries) == 0 {
		w.t.Fatalf("the audit log has %d: %v", len(entries), err)
	}
	return entries[0]
}

// TestAnswersAreNoOrders shows that nobody gets an order to the scheduler by way of an answer: of a request, or of the
// publishing of a spec, whose reply is the subject of a spec that the user may not publish.
func TestAnswersAreNoOrders(t *testing.T) {
	for name, apart := range map[string]bool{"accounts": true, "one account": false} {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, apart)
			nc := w.user("partners-operator")
			for _, subject := range []string{"carillon.api.get.partners.job", "carillon.spec.enable.partners.job", "$SRV.INFO.carillon"} {
				for _, order := range []string{"carillon.spec.delete.other.job", "carillon.spec.put.other.job", "carillon.api.delete.other.job"} {
					must.Do(t, nc.PublishRequest(subject, order, nil))
				}
			}
			must.Do(t, nc.FlushTimeout(patience))
			w.mustAnswer(nc, "carillon.api.get.partners.job", "") // those before it were answered, or left alone
			admin := w.user("admin")
			results := must.Get(admin.SubscribeSync("carillon.spec-result.*.other.>"))(t)
			if err := admin.Publish("carillon.spec.enable.other.job", nil); err != nil { // of the job, in their order
				t.Fatal(err)
			}
			for {
				m := must.Get(results.NextMsg(patience))(t)
				var result struct {
					Verdict string `json:"verdict"`
					Verb    string `json:"verb"`
				}
				must.Do(t, json.Unmarshal(m.Data, &result))
				if result.Verdict == "accepted" && result.Verb != "enable" {
					t.Errorf("carried out: %s", m.Data)
				}
				if result.Verb == "enable" {
					break
				}
			}
			w.mustAnswer(admin, "carillon.api.get.other.job", "")
		})
	}
}

func TestWrongConfigsAreNamed(t *testing.T) {
	for _, test := range []struct {
		cfg  permit.Config
		want string
	}{
		{permit.Config{Role: "owner"}, "is not a role"},
		{permit.Config{Role: permit.Reader, Collections: []string{"a b"}}, "collection"},
		{permit.Config{Role: permit.Reader, User: "a.b"}, "one token"},
		{permit.Config{Role: permit.Scheduler, Collections: []string{"a"}}, "all collections"},
	} {
		if _, err := permit.For(test.cfg); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.cfg, err)
		}
	}
	if _, err := os.Stat(exampleConfig); err != nil {
		t.Error(err)
	}
}
