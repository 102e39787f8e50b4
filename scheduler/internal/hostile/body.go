package hostile

import (
	"context"
	_ "embed" // the documents
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler/internal/climb"
)

// Kind is the kind of a document.
type Kind string

// The kinds.
const (
	Job        Kind = "job"
	Patch      Kind = "patch" // of a job
	Collection Kind = "collection"
	Secret     Kind = "secret"
	Token      Kind = "token"
	Preview    Kind = "preview"
	Schedule   Kind = "schedule" // of AWX
	Query      Kind = "query"    // the body of a request over NATS that asks for a page
	Nothing    Kind = "nothing"
)

// Kinds are all of them.
var Kinds = []Kind{Job, Patch, Collection, Secret, Token, Preview, Schedule, Query, Nothing}

//go:embed bodies.txt
var bodies string

// right are valid documents. Jobs that would be due during a test are disabled or start much later. "#" represents a
// number.
var right = read(bodies)

// read reads lines of a kind and a document each.
func read(lines string) map[Kind][]string {
	all := map[Kind][]string{}
	for line := range strings.Lines(lines) {
		kind, body, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all[Kind(kind)] = append(all[Kind(kind)], strings.ReplaceAll(body, `\n`, "\n"))
	}
	return all
}

// Words are values at the edges of types, names that are taken, and the marks of the formats.
var Words = []string{
	"{", "}", "[", "]", ":", ",", `"`, "\\", "&a ", "*a", "<<: *a", "- ", "\t", "\r\n", "\x00", "\xff\xfe", "\xed\xa0\x80", `\ud800`,
	"\u202e", "\ufeff", "null", "true", "~", "-1", "0", "9223372036854775808", "1e999", "-0.0", "NaN", "0x1F", "2262-04-12T00:00:00Z",
	"9999-12-31T23:59:59Z", "0000-00-00", "P1D", "PT0S", "P999999Y", "* * * * *", "FREQ=SECONDLY;INTERVAL=1", "BYSETPOS=-1",
	"COUNT=1000000", "Europe/Berlin", "default", "seven", "few", "..", ".", "%2e%2e", "%00", "%2f", "a/b", "*", ">", "$KV", "http://[::1",
	"2099-01-01T00:00:00Z", "state eq Enabled", "status eq Failed and", "eq", `"state": "enabled",`, `"state": "Completed",`,
	`"status": {"executionCount": 7},`, `"id": "/x",`, `"action": null,`, `"properties": {"properties": {`, `"labels": {"a": "b"},`,
	`"secretRef": "shared",`, `"after": ["default/seven"],`, `"quota": {"maxJobCount": -1},`, `"__proto__": {}`,
}

// Body draws a document of a kind: half of them as they should be, or at least of another kind.
func Body(r *rand.Rand, kind Kind) string {
	if r.IntN(12) == 0 {
		kind = Kinds[r.IntN(len(Kinds))]
	}
	body := strings.ReplaceAll(one(r, right[kind]), "#", strconv.Itoa(r.IntN(1000)))
	switch r.IntN(16) {
	case 0: // deep
		return strings.Repeat(one(r, []string{"[", `{"a":`, "- ", `{"properties":`}), 1+r.IntN(4000))
	case 1: // long
		return body + strings.Repeat(" ", r.IntN(40<<10))
	case 2: // a member twice
		return strings.Replace(body, "{", `{"state": "disabled", "state": "enabled",`, 1)
	case 3, 4, 5, 6, 7:
		for range 1 + r.IntN(3) {
			body = Mutant(r, body)
		}
	}
	return body
}

// Mutant changes a text in one place.
func Mutant(r *rand.Rand, text string) string {
	return climb.Text{Tokens: Words, Most: 20 << 10}.Mutate(r, text, one(r, right[Kinds[r.IntN(len(Kinds))]]))
}

// Word draws one of the words.
func Word(r *rand.Rand) string { return one(r, Words) }

func one(r *rand.Rand, of []string) string { return of[r.IntN(len(of))] }

// Streams are the last sequences of streams, by name.
type Streams map[string]uint64

// Look returns the streams of a server.
func Look(s *server.Server) (Streams, error) {
	all, err := s.Jsz(&server.JSzOptions{Accounts: true, Streams: true})
	if err != nil {
		return nil, err
	}
	last := Streams{}
	for _, account := range all.AccountDetails {
		for _, stream := range account.Streams {
			last[stream.Name] = stream.State.LastSeq
		}
	}
	return last, nil
}

// Written returns the writes between two looks, each with its stream and subject. It ignores messages that the server
// itself moves when they are due.
func Written(ctx context.Context, js jetstream.JetStream, before, after Streams) (written []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if after[name] == before[name] {
			continue
		}
		stream, err := js.Stream(ctx, name)
		if err != nil {
			return nil, err
		}
		for seq := before[name] + 1; seq <= after[name]; seq++ {
			m, err := stream.GetMsg(ctx, seq)
			if errors.Is(err, jetstream.ErrMsgNotFound) {
				continue // it was overwritten since
			}
			if err != nil {
				return nil, err
			}
			if m.Header.Get("Nats-Scheduler") == "" {
				written = append(written, name+" "+m.Subject)
			}
		}
	}
	return written, nil
}
