package backup_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/backup"
)

// BenchmarkFile writes and reads a backup of 10,000 jobs.
func BenchmarkFile(b *testing.B) {
	const jobs = 10_000
	data := `{"form":"151601d8d","uid":"726M47HXN5HMZQUN6NTNLB7QRL%d","generation":1,"scheduleGeneration":1,"state":"enabled","properties":` +
		`{"recurrence":{"frequency":"minute","interval":1},"labels":{"team":"t7","order":"o77"},"action":{"type":"Http","request":` +
		`{"method":"POST","uri":"http://127.0.0.1:45395/hook","body":"%d"}}}}`
	write := func() []byte {
		var file bytes.Buffer
		w, err := backup.NewWriter(&file, backup.Header{})
		if err != nil {
			b.Fatal(err)
		}
		for i := range jobs {
			e := &backup.Entry{
				Kind: backup.Job, Name: fmt.Sprintf("default/job-%d", i), Data: fmt.Appendf(nil, data, i, i),
				Batons: []backup.Baton{{Baton: scheduler.Baton{UID: "726M47HX", Revision: uint64(i), Nominal: nominal, Due: nominal}}},
			}
			if _, err := w.Write(e); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := w.Close(); err != nil {
			b.Fatal(err)
		}
		return file.Bytes()
	}
	file := write()
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			write()
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := backup.Verify(bytes.NewReader(file)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
