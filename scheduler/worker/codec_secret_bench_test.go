package worker_test

import (
	"testing"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// BenchmarkEncodeJob is what a job costs that is written, without secrets and
// with one. What is written is read back before, so the secret is opened and
// sealed again as it is at the end of a one-shot.
func BenchmarkEncodeJob(b *testing.B) {
	const meta = `{"uid":"U","generation":1,"scheduleGeneration":1,"created":"2026-01-01T00:00:00Z","updated":"2026-01-01T00:00:00Z",
		"anchor":"2026-01-01T00:00:00Z","state":"enabled","properties":{"startTime":"2026-02-01T00:00:00Z",`
	k, err := seal.NewKey("k1")
	if err != nil {
		b.Fatal(err)
	}
	ring := seal.NewKeyring(k)
	sealed, err := ring.Seal("job default/job action.door.key", planted)
	if err != nil {
		b.Fatal(err)
	}
	vault := secrets.NewVault(secrets.Config{Keys: ring})
	reader := actions.New(web.New(web.Config{}), lockedReader{})
	for name, stored := range map[string]string{
		"plain":  meta + action + `}}`,
		"secret": meta + `"action":{"type":"Locked","door":{"key":{"$sealed":"` + sealed + `"},"name":"n"}}}}`,
	} {
		b.Run(name, func(b *testing.B) {
			j, err := scheduler.DecodeJob(key("job"), 1, []byte(stored), reader, vault)
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
