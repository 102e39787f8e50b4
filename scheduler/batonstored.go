package scheduler

import (
	"encoding/json"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler/internal/plainjson"
)

// plainBaton is a baton without its methods and its kind.
type plainBaton Baton

// storedBaton is a baton as it lies in the store. [Baton.Encode] writes its members.
type storedBaton struct {
	plainBaton
	kindFlags
}

// About how long a baton's body is, and how much longer after the first run, a
// failure, or with a trace.
const (
	batonSize         = 192
	batonProgressSize = 256
	batonFailedSize   = 256 // without its message
	batonTraceSize    = 128 // without its state
)

// Encode returns the baton's message body. A waiting baton is on the disk only, so its length takes no memory: no field
// that a reader needs is left out for a default.
func (b *Baton) Encode() []byte {
	size := batonSize + len(b.Data)
	if b.Any() {
		size += batonProgressSize
	}
	if b.Trace != nil {
		size += batonTraceSize + len(b.Trace.State)
	}
	if b.Failed != nil {
		size += batonFailedSize + len(b.Failed.Message)
	}
	w := plainjson.NewWriter(size)
	b.writeProgress(&w)
	w.OptText("uid", b.UID)
	w.Uint("rev", b.Revision)
	w.Int("sched", b.Schedule)
	w.Time("nominal", b.Nominal)
	w.Time("due", b.Due)
	w.OptInt("attempt", b.Attempt)
	w.OptInt("try", b.Try)
	w.OptText("phase", string(b.Phase))
	w.OptInt("errorAction", b.ErrorAction)
	w.OptTime("resume", b.Resume)
	b.Failed.write(&w)
	b.Resubmits.write(&w)
	b.Trace.write(&w)
	w.OptUint("defaults", b.Defaults)
	w.OptRaw("data", b.Data)
	w.OptTrue("waits", b.PostponementRecorded)
	w.OptTime("pausedFrom", b.PausedFrom)
	w.OptTime("gap", b.Gap)
	w.OptTime("held", b.DeferredUntil)
	w.OptTime("postponed", b.DeferredSince)
	w.OptTrue("told", b.DeferralRecorded)
	w.OptTrue("strayed", b.Suspect)
	flags := b.Kind.flags()
	w.OptTrue("manual", flags.Manual)
	w.OptTrue("oneOff", flags.Detached)
	data, err := w.Bytes()
	if err != nil {
		panic("scheduler: baton cannot be encoded: " + err.Error()) // an instant beyond the year 9999: a defect
	}
	return data
}

// DecodeBaton reads a message body.
func DecodeBaton(data []byte) (Baton, error) {
	if b, ok := readBaton(data); ok {
		return b, nil
	}
	return decodeForeignBaton(data)
}

// decodeForeignBaton reads a baton that is not as this version writes it: it has
// members that another one knows, or it is damaged.
func decodeForeignBaton(data []byte) (Baton, error) {
	var stored storedBaton
	if err := json.Unmarshal(data, &stored); err != nil {
		return Baton(stored.plainBaton), fmt.Errorf("baton: %w", err)
	}
	stored.Kind = stored.kind()
	return Baton(stored.plainBaton), nil
}

// readBaton is the reverse of [Baton.Encode]. False means that data is not as that
// writes it.
func readBaton(data []byte) (b Baton, ok bool) {
	r := plainjson.NewReader(data)
	b.readProgress(&r)
	r.Text("uid", &b.UID)
	r.Uint("rev", &b.Revision)
	r.Int("sched", &b.Schedule)
	r.Time("nominal", &b.Nominal)
	r.Time("due", &b.Due)
	r.Int("attempt", &b.Attempt)
	r.Int("try", &b.Try)
	r.Word("phase", (*string)(&b.Phase), string(ErrorPhase))
	r.Int("errorAction", &b.ErrorAction)
	r.Time("resume", &b.Resume)
	b.Failed = readFailure(&r)
	b.Resubmits = readResubmission(&r)
	b.Trace = readTrace(&r)
	r.Uint("defaults", &b.Defaults)
	r.Raw("data", (*[]byte)(&b.Data))
	r.True("waits", &b.PostponementRecorded)
	r.Time("pausedFrom", &b.PausedFrom)
	r.Time("gap", &b.Gap)
	r.Time("held", &b.DeferredUntil)
	r.Time("postponed", &b.DeferredSince)
	r.True("told", &b.DeferralRecorded)
	r.True("strayed", &b.Suspect)
	var flags kindFlags
	r.True("manual", &flags.Manual)
	r.True("oneOff", &flags.Detached)
	b.Kind = flags.kind()
	return b, r.Done()
}
