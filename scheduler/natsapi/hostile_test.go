package natsapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler/internal/climb"
	"github.com/carillon-sched/carillon/scheduler/internal/hostile"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
)

var hostileSeed = flag.Uint64("hostile.seed", 1, "seed of the requests that TestHostileRequests draws; 0: any")

// drawnHeaders are headers of requests; $ stands for an ETag that was answered lately.
var drawnHeaders = []string{
	"Carillon-If-Match: *", `Carillon-If-Match: "x"`, "Carillon-If-Match: $", "carillon-if-match: $, \"y\"", "Carillon-If-None-Match: *", "Carillon-If-None-Match: $",
	"Carillon-If-Match: \"", "Carillon-If-Match: ", "Carillon-Dry-Run: true", "Carillon-Dry-Run: maybe", "Carillon-Strict: true", "Carillon-Strict: TRUE",
	"Carillon-By: somebody", "Carillon-By: \x01\u202e", "Nats-Msg-Id: 1", "Nats-Schedule: @at 2099-01-01T00:00:00Z", "Nats-TTL: 1s", "Nats-Rollup: all",
	"Nats-Expected-Stream: none", "Nats-Service-Error: x", "Traceparent: 00-0", "Content-Encoding: gzip",
}

// door sends requests and specs that are drawn at random.
type door struct {
	*harness

	t       *testing.T
	r       *rand.Rand
	results func() event
	tags    []string
}

func (d *door) one(of []string) string { return of[d.r.IntN(len(of))] }

// message draws a request or a spec for a subject, below a prefix.
func (d *door) message(prefix, subject string) *nats.Msg {
	verb, _, _ := strings.Cut(subject, ".")
	tokens := strings.Split(subject, ".")
	for i, token := range tokens {
		if token == "*" || token == ">" {
			tokens[i] = d.name(i == 1 && !strings.HasPrefix(verb, "secret"))
		}
	}
	if d.r.IntN(30) == 0 {
		tokens = append(tokens, d.name(false))
	}
	m := &nats.Msg{Subject: prefix + strings.Join(tokens, "."), Header: nats.Header{}, Data: []byte(hostile.Body(d.r, kindOf(verb)))}
	for d.r.IntN(6) == 0 {
		name, value, _ := strings.Cut(d.one(drawnHeaders), ": ")
		m.Header[name] = append(m.Header[name], strings.ReplaceAll(value, "$", d.one(append(d.tags, `"none"`))))
	}
	return m
}

// name draws what stands for a wildcard of a subject: of a collection, or of anything else.
func (d *door) name(collection bool) string {
	if d.r.IntN(25) == 0 {
		word := strings.Map(func(r rune) rune {
			if r <= ' ' || strings.ContainsRune(".*>", r) {
				return -1
			}
			return r
		}, hostile.Word(d.r))
		if word != "" {
			return word
		}
	}
	if collection {
		return d.one([]string{"default", "default", "few", "full", "none"})
	}
	return d.one([]string{"seven", "seven", "made", "job1", "job2", "shared"})
}

// kindOf is the kind of document that a verb takes.
func kindOf(verb string) hostile.Kind {
	switch verb {
	case "put":
		return hostile.Job
	case "patch":
		return hostile.Patch
	case "collection-put", "collection-patch":
		return hostile.Collection
	case "secret-put":
		return hostile.Secret
	case "preview":
		return hostile.Preview
	case "list", "history", "why", "follow", "collection-list", "secret-list":
		return hostile.Query
	}
	return hostile.Nothing
}

// changing are the beginnings of subjects whose requests change something.
var changing = []string{
	"put", "patch", "delete", "run", "resubmit", "enable", "disable", "pause", "cancel", "collection-cancel", "collection-put", "collection-patch", "collection-delete", "collection-enable",
	"collection-disable", "operation-create", "operation-cancel", "secret-put", "secret-delete", "secret-rotate", "event-replay",
}

// ask sends a request to the micro service, and returns its status and what is wrong with what becomes of it.
func (d *door) ask(m *nats.Msg) (status string, wrong []string) {
	before := d.look()
	ans, err := d.nc.RequestMsg(m, patience)
	if errors.Is(err, nats.ErrNoResponders) {
		return "nobody", d.writtenSince(before)
	}
	if err != nil {
		return "none", []string{err.Error()}
	}
	status = ans.Header.Get("Carillon-Status")
	if tail := ans.Header.Get("Carillon-Tail"); tail != "" {
		if err := d.nc.Publish("carillon.api.unfollow."+tail, nil); err != nil {
			d.t.Fatal(err)
		}
		return "tail", nil
	}
	d.learn(ans.Header.Get("Carillon-ETag"))
	if status < "2" || status >= "5" || status >= "300" && status < "400" && status != "304" {
		wrong = append(wrong, "it is neither done nor refused: "+string(ans.Data))
	}
	verb, name, _ := strings.Cut(strings.TrimPrefix(m.Subject, "carillon.api."), ".")
	dry := slices.ContainsFunc(headerOf(m, "Carillon-Dry-Run"), func(s string) bool { return strings.EqualFold(s, "true") })
	if status >= "3" || dry || !slices.Contains(changing, verb) {
		return status, append(wrong, d.writtenSince(before)...)
	}
	if slices.Equal(headerOf(m, "Carillon-If-Match"), []string{`"x"`}) {
		wrong = append(wrong, "it is done although its condition does not hold")
	}
	return status, append(wrong, d.readBack(verb, name, ans)...)
}

// headerOf returns the values of a header, in any letter case.
func headerOf(m *nats.Msg, name string) (values []string) {
	for n, v := range m.Header {
		if strings.EqualFold(n, name) {
			values = append(values, v...)
		}
	}
	return values
}

// readBack compares what was answered with what is there then.
func (d *door) readBack(verb, name string, ans *nats.Msg) []string {
	read := "get."
	switch of, rest, found := strings.Cut(verb, "-"); {
	case of == "secret", verb == "run", verb == "resubmit", verb == "cancel", rest == "cancel", of == "event":
		return nil
	case found:
		read, verb = "collection-get.", rest
	}
	got, err := d.nc.Request("carillon.api."+read+name, nil, patience)
	if err != nil {
		return []string{err.Error()}
	}
	if verb == "delete" {
		if status := got.Header.Get("Carillon-Status"); status != "404" {
			return []string{"it is still there: " + status}
		}
		return nil
	}
	if a, b := ans.Header.Get("Carillon-ETag"), got.Header.Get("Carillon-ETag"); a != b || flat(d.t, ans.Data) != flat(d.t, got.Data) {
		return []string{fmt.Sprintf("it is %s\n%s\nand then %s\n%s", a, ans.Data, b, got.Data)}
	}
	return nil
}

// flat is a document without what an edit alone is told.
func flat(t *testing.T, data []byte) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	delete(v, "warnings")
	delete(v, "result")
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// publishSpec publishes a spec, waits for what becomes of it, and returns what is wrong with that.
func (d *door) publishSpec(m *nats.Msg) (verdict string, wrong []string) {
	before := d.look()
	if ack, err := d.js.PublishMsg(d.ctx, m); err != nil || ack.Duplicate {
		return "not stored", d.writtenSince(before)
	}
	e := d.results()
	if e.Verdict == "rejected" {
		if e.Error == nil || e.Error.Code == "InternalError" {
			wrong = append(wrong, fmt.Sprintf("it is neither done nor refused: %+v", e.Error))
		}
		return e.Verdict, append(wrong, d.writtenSince(before)...)
	}
	return e.Verdict, nil
}

// look notes what is in the streams.
func (d *door) look() hostile.Streams {
	d.t.Helper()
	now, err := hostile.Look(d.server)
	if err != nil {
		d.t.Fatal(err)
	}
	return now
}

// besides are the streams of what was tried and refused, too. What is written into them is not always waited for.
var besides = []string{"CARILLON_AUDIT ", "CARILLON_SPECS ", "CARILLON_SPEC_RESULTS "}

// writtenSince tells what was written of jobs, collections, secrets and batons.
func (d *door) writtenSince(before hostile.Streams) []string {
	d.t.Helper()
	written, err := hostile.Written(d.ctx, d.js, before, d.look())
	if err != nil {
		d.t.Fatal(err)
	}
	written = slices.DeleteFunc(written, func(what string) bool {
		return slices.ContainsFunc(besides, func(stream string) bool { return strings.HasPrefix(what, stream) })
	})
	if len(written) == 0 {
		return nil
	}
	return []string{"it changes nothing, and yet there was written: " + strings.Join(written, ", ")}
}

// learn keeps an ETag for requests to come.
func (d *door) learn(tag string) {
	if tag != "" {
		d.tags = append(d.tags[max(0, len(d.tags)-7):], tag)
	}
}

// plant puts what requests are about, where it is not there any more, and looks for anything that is applied by half.
func (d *door) plant() {
	d.t.Helper()
	for _, step := range [][2]string{
		{"collection-put.default", ""},
		{"collection-put.few", ""},
		{"collection-put.full", `{"properties": {"quota": {"maxJobCount": 1}}}`},
		{"put.default.seven", later},
		{"put.few.seven", later},
		{"put.full.seven", later},
	} {
		m := headed{subject: step[0], body: step[1], headers: "Carillon-If-None-Match: *"}.message("carillon.api.", nil)
		ans, err := d.nc.RequestMsg(m, patience)
		if err != nil || !slices.Contains([]string{"201", "409", "412"}, ans.Header.Get("Carillon-Status")) {
			d.t.Fatalf("%s: %v %s", step[0], err, bytes.TrimSpace(ans.Data))
		}
	}
	report, err := d.service.Audit(d.ctx, false)
	if err != nil || len(report.Findings) > 0 {
		d.t.Errorf("something is half applied: %v, %+v", err, report)
	}
}

// TestHostileRequests sends a thousand requests and specs, drawn at random, to every subject: each is done, or refused with a status of
// 4xx, or a result that says so, and nothing written; and what was done reads back as it was answered. -hostile.seed=0 draws others, and
// CARILLON_FUZZ_TIME=10m goes on for ten minutes.
func TestHostileRequests(t *testing.T) {
	seed := *hostileSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	w := newHarness(t)
	w.api()
	w.ingest()
	d := &door{harness: w, t: t, r: rand.New(rand.NewPCG(seed, 0)), results: w.results()}
	requests, specs := natsapi.Subjects()
	answers := map[string]int{}
	wanted := []string{"200", "201", "400", "404", "409", "412", "accepted", "rejected", "not stored", "tail"}
	missing := func(what string) bool { return answers[what] == 0 }
	for n := range climb.Rounds(t, 1_000, func() bool { return !slices.ContainsFunc(wanted, missing) }) {
		if n%500 == 0 {
			d.plant()
		}
		var m *nats.Msg
		var what string
		var wrong []string
		if d.r.IntN(5) == 0 {
			m = d.message("carillon.spec.", d.one(specs))
			what, wrong = d.publishSpec(m)
		} else {
			subject := d.one(requests)
			if strings.Contains(subject, ">") { // names of too many tokens; there are many of those
				subject = d.one(requests)
			}
			m = d.message("carillon.api.", subject)
			what, wrong = d.ask(m)
		}
		answers[what]++
		if len(wrong) > 0 {
			t.Errorf("-hostile.seed=%d, request %d: %s %v %q: %s %s", seed, n, m.Subject, m.Header, m.Data, what, strings.Join(wrong, "\n"))
		}
	}
	d.plant()
	t.Logf("seed %d: %v", seed, answers)
	for _, want := range wanted {
		if missing(want) {
			t.Errorf("none was answered with %s: %v", want, answers)
		}
	}
}
