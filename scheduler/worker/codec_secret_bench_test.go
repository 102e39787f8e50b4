package worker_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

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
			reading := scheduler.Reading{Actions: reader, Key: key("job"), UID: "UVXYZ234"}
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
