package engine_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// storedForms are jobs of usual sizes, as users write them.
var storedForms = []struct{ name, document string }{
	{"OneShot", `"startTime": "2026-02-01T00:00:00Z", ` + action},
	{"Headers", `"startTime": "2026-02-01T00:00:00Z", "timeout": "PT5S", "labels": {"team": "billing"},
		"action": {"type": "Http", "request": {"uri": "https://target.example/hooks/nightly?tenant=42", "method": "PUT",
			"body": "{\"text\":\"hello\"}", "headers": {"Content-Type": "application/json", "X-Tenant": "42"}},
			"retryPolicy": {"retryType": "fixed", "retryInterval": "PT30S", "retryCount": 4},
			"errorAction": {"type": "Http", "request": {"uri": "https://target.example/failed", "method": "POST", "body": "x"}}}`},
	{"Recurrence", `"startTime": "2026-02-01T00:00:00Z", ` + action + `,
		"recurrence": {"frequency": "week", "schedule": {"weekDays": ["monday", "friday"], "hours": [10, 22]}}`},
	{"Cron", action + `, "timeZone": "Europe/Berlin", "recurrence": {"cron": "30 6 * * MON-FRI"}`},
	{"RRule", action + `, "recurrence": {"rrule": "DTSTART:20260101T090000Z RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"}`},
	{"Secret", `"startTime": "2026-02-01T00:00:00Z", "action": {"type": "Http", "request": {"uri": "https://target.example/", "method": "POST",
		"body": "x", "authentication": {"type": "Basic", "username": "me", "password": "hunter2"}}}`},
	{"Template", `"startTime": "2026-02-01T00:00:00Z", "action": {"type": "Http", "request": {"uri": "https://target.example/", "method": "POST",
		"template": true, "body": "{\"at\": \"{{.Nominal}}\", \"try\": {{.Attempt}}}"}}`},
	{"StorageQueue", `"startTime": "2026-02-01T00:00:00Z", "action": {"type": "StorageQueue", "queueMessage": {"storageAccount": "account",
		"queueName": "queue", "sasToken": "sv=2022-11-02&ss=q&srt=o&sp=a&se=2036-01-01T00:00:00Z&sig=c2lnbmF0dXJlIG9mIHRoZSBleGFtcGxl", "message": "hello"}}`},
	{"ServiceBus", `"startTime": "2026-02-01T00:00:00Z", "action": {"type": "ServiceBusQueue", "serviceBusQueueMessage": {
		"namespace": "bus", "queueName": "queue", "message": "hello",
		"authentication": {"type": "sharedAccessKey", "sasKeyName": "send", "sasKey": "cHJpbWFyeSBrZXkgb2YgdGhlIGV4YW1wbGU="}}}`},
}

// BenchmarkDecodeJob is what it costs to read a stored job: once for each one-shot, and once for each job of a list.
func BenchmarkDecodeJob(b *testing.B) {
	reader := builtin.New(builtin.Config{})
	b.Cleanup(reader.Close)
	k, err := seal.NewKey("k1")
	if err != nil {
		b.Fatal(err)
	}
	vault := secrets.NewVault(secrets.Config{Keys: seal.NewKeyring(k)})
	for _, form := range storedForms {
		data, err := storedJob(form.document, reader, vault)
		if err != nil {
			b.Fatalf("%s: %v", form.name, err)
		}
		b.Run(form.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := scheduler.DecodeJob(key("job"), 1, data, reader, vault); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// cachedForms are distinct jobs, of which each has a number.
var cachedForms = []struct{ name, document string }{
	{"Interval", `"startTime": "2026-01-01T00:00:00.%03[1]dZ", "recurrence": {"frequency": "second", "interval": 10}, "action": {"type": "Http",
		"request": {"uri": "http://target.example/%[1]d", "method": "POST", "body": "{\"n\":%[1]d}"}}`},
	{"Cron", `"timeZone": "Europe/Berlin", "recurrence": {"cron": "30 6 * * MON-FRI"}, "action": {"type": "Http",
		"request": {"uri": "http://target.example/%[1]d", "method": "POST", "body": "{\"n\":%[1]d}", "headers": {"X-Tenant": "%[1]d"}}}`},
	{"OneShot", `"startTime": "2036-01-01T00:00:00Z", "action": {"type": "Http",
		"request": {"uri": "http://target.example/%[1]d", "method": "POST", "body": "{\"n\":%[1]d}"}}`},
}

// BenchmarkCachedJob reports the heap objects and bytes of a job in the cache of a worker: they are the work of each garbage
// collection.
func BenchmarkCachedJob(b *testing.B) {
	const jobs = 1000
	reader := builtin.New(builtin.Config{})
	b.Cleanup(reader.Close)
	for _, form := range cachedForms {
		var data [jobs][]byte
		for i := range data {
			data[i] = must.Get(storedJob(fmt.Sprintf(form.document, i), reader, nil))(b)
		}
		b.Run(form.name, func(b *testing.B) {
			cached := make([]*scheduler.Job, jobs)
			var before, after runtime.MemStats
			for b.Loop() {
				clear(cached)
				var shared jobcache.Definitions
				heap(&before)
				for i := range cached {
					cached[i] = must.Get(must.Get(scheduler.ReadJobWith(&shared, key("job"), 1, data[i], reader, nil))(b).Compiled())(b)
				}
				heap(&after)
			}
			b.ReportMetric(float64(after.HeapObjects-before.HeapObjects)/jobs, "objects/job")
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/jobs, "B/job")
			runtime.KeepAlive(cached)
		})
	}
}

// heap reads the statistics of the live objects.
func heap(m *runtime.MemStats) {
	runtime.GC() //nolint:revive // it is what is measured
	runtime.GC() //nolint:revive // ends the sweep of the first
	runtime.ReadMemStats(m)
}

// storedJob returns a job of a document's members as it is stored.
func storedJob(members string, actions scheduler.ActionReader, sealer scheduler.Sealer) ([]byte, error) {
	v, err := document.Parse([]byte("{" + members + "}"))
	if err != nil {
		return nil, err
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 123456789, time.UTC)
	def, err := (&scheduler.DefinitionDecoder{Actions: actions, Key: key("job"), UID: "ABCDEFGHIJKLMNOPQRSTUVWXYZ", Now: now}).Definition(v)
	if err != nil {
		return nil, err
	}
	j, err := scheduler.NewJob(key("job"), "ABCDEFGHIJKLMNOPQRSTUVWXYZ", def, now, 0)
	if err != nil {
		return nil, err
	}
	return j.Encode(sealer)
}

// BenchmarkEncodeJob is what a job costs that is written, without secrets and
// with one. What is written is read back before, so the secret is opened and
// sealed again as it is at the end of a one-shot.
func BenchmarkEncodeJob(b *testing.B) {
	const start = `{"startTime":"2026-02-01T00:00:00Z",`
	k, err := seal.NewKey("k1")
	if err != nil {
		b.Fatal(err)
	}
	ring := seal.NewKeyring(k)
	vault := secrets.NewVault(secrets.Config{Keys: ring})
	reader := actions.New(web.New(web.Config{}), lockedReader{})
	for name, text := range map[string]string{
		"plain":  start + action + `}`,
		"secret": start + `"action":{"type":"Locked","door":{"key":"` + planted + `","name":"n"}}}`,
	} {
		b.Run(name, func(b *testing.B) {
			properties, err := document.Parse([]byte(text))
			if err != nil {
				b.Fatal(err)
			}
			reading := scheduler.DefinitionDecoder{Actions: reader, Key: key("job"), UID: "UVXYZ234"}
			def, err := reading.Definition(properties)
			if err != nil {
				b.Fatal(err)
			}
			written, err := scheduler.NewJob(key("job"), "UVXYZ234", def, time.Now(), 0)
			if err != nil {
				b.Fatal(err)
			}
			stored, err := written.Encode(vault)
			if err != nil {
				b.Fatal(err)
			}
			j, err := scheduler.DecodeJob(key("job"), 1, stored, reader, vault)
			if err != nil || j.Def.HasSecrets() != (name == "secret") {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := j.Encode(vault); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
