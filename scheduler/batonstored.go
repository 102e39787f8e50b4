package scheduler

import (
	"encoding/json"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler/internal/plainjson"
)

// plainBaton is a Baton without its methods and kind.
type plainBaton Baton

// storedBaton is a baton in the store. [Baton.Encode] writes the same fields.
type storedBaton struct {
	plainBaton
	kindFlags
}

// Approximate sizes of an encoded baton in bytes, and of the parts that are added after the first run, after a failure,
// and with a trace.
const (
	batonSize         = 192
	batonProgressSize = 256
	batonFailedSize   = 256 // without the message
	batonTraceSize    = 128 // without the state
)

// Encode returns the message body. A waiting baton is on disk only, so its length costs no memory: no field that a
// reader needs is omitted for a default.
func (b *Baton) Encode() []byte {
	size := batonSize + len(b.Data) + len(b.Events)
	if b.Any() {
		size += batonProgressSize
	}
	if b.Trace != nil {
		size += batonTraceSize + len(b.Trace.State)
	}
	if b.Failed != nil {
		size += batonFailedSize + len(b.Failed.Message) + len(b.Failed.Summary)
	}
	c, flags := plainjson.NewWriter(size), b.Kind.flags()
	b.code(&c, &flags)
	data, err := c.Bytes()
	if err != nil {
		panic("scheduler: baton cannot be encoded: " + err.Error()) // a year beyond 9999: a defect
	}
	return data
}

// code lists the fields of a stored baton.
func (b *Baton) code(c *plainjson.Codec, flags *kindFlags) {
	b.codeProgress(c)
	c.OptText("uid", &b.UID)
	c.Uint("rev", &b.Revision)
	c.OptUint("edit", &b.Edit)
	c.Int("sched", &b.Schedule)
	c.Time("nominal", &b.Nominal)
	c.Time("due", &b.Due)
	c.OptInt("attempt", &b.Attempt)
	c.OptInt("try", &b.Try)
	c.OptWord("phase", (*string)(&b.Phase), string(ErrorPhase))
	c.OptInt("errorAction", &b.ErrorAction)
	c.OptTime("resume", &b.Resume)
	codeFailure(c, &b.Failed)
	codeResubmission(c, &b.Resubmits)
	codeTrace(c, &b.Trace)
	c.OptUint("defaults", &b.Defaults)
	c.OptRaw("data", (*[]byte)(&b.Data))
	plainjson.Rare(c, "cause", &b.Cause, b.Cause != nil)
	plainjson.Rare(c, "events", &b.Events, len(b.Events) > 0)
	c.OptTrue("keyed", &b.Keyed)
	c.OptTrue("spent", &b.Spent)
	c.OptTime("canceledAt", &b.CanceledAt)
	plainjson.Rare(c, "ledger", &b.Ledger, b.Ledger != nil)
	plainjson.Rare(c, "arrived", &b.Arrived, len(b.Arrived) > 0)
	c.OptTrue("waits", &b.PostponementRecorded)
	c.OptTime("pausedFrom", &b.PausedFrom)
	c.OptTrue("queued", &b.Queued)
	c.OptTime("gap", &b.Gap)
	c.OptTime("held", &b.DeferredUntil)
	c.OptTime("postponed", &b.DeferredSince)
	c.OptTrue("told", &b.DeferralRecorded)
	c.OptTrue("unmet", &b.Unmet)
	c.OptTrue("strayed", &b.Suspect)
	c.OptTrue("manual", &flags.Manual)
	c.OptTrue("oneOff", &flags.Detached)
}

// DecodeBaton decodes a message body.
func DecodeBaton(data []byte) (b Baton, err error) {
	err = b.Decode(data)
	return b, err
}

// Decode decodes a message body into b, which must be the zero Baton. The error means that the body is damaged.
func (b *Baton) Decode(data []byte) (err error) {
	if !b.read(data) {
		*b, err = decodeForeignBaton(data)
	}
	return err
}

// decodeForeignBaton decodes a baton that this version did not write: it has fields of another version, or is damaged.
func decodeForeignBaton(data []byte) (Baton, error) {
	var stored storedBaton
	if err := json.Unmarshal(data, &stored); err != nil {
		return Baton(stored.plainBaton), fmt.Errorf("baton: %w", err)
	}
	stored.Kind = stored.kind(stored.Cause)
	return Baton(stored.plainBaton), nil
}

// read is the inverse of [Baton.Encode]. It returns false if data has another form.
func (b *Baton) read(data []byte) bool {
	c, flags := plainjson.NewReader(data), kindFlags{}
	b.code(&c, &flags)
	b.Kind = flags.kind(b.Cause)
	return c.Done()
}

// Fields that batons and records share, in the order of the struct fields.

func (p *Progress) codeProgress(c *plainjson.Codec) {
	c.OptInt("number", &p.Number)
	c.OptInt("runs", &p.Runs)
	c.OptInt("executions", &p.Executions)
	c.OptInt("failures", &p.Failures)
	c.OptInt("errors", &p.Errors)
	c.OptInt("errorFails", &p.ErrorFails)
	c.OptInt("faults", &p.Faults)
	c.OptTime("last", &p.Last)
	c.OptTime("seen", &p.Seen)
	c.OptTime("base", &p.Base)
	c.OptTime("ran", &p.Ran)
	c.OptTime("prior", &p.Prior)
	c.OptTrue("gaveUp", &p.GaveUp)
	c.OptInts("merged", &p.Merged)
	c.OptInts("repeated", &p.Repeated)
}

// codeFailure codes the field failed.
func codeFailure(c *plainjson.Codec, failed **Failure) {
	if !c.Begin("failed", *failed != nil) {
		return
	}
	f := made(failed)
	c.OptInt("status", &f.Status)
	c.Int("attempts", &f.Attempts)
	c.Text("message", &f.Message)
	c.OptText("summary", &f.Summary)
	c.OptTime("due", &f.Due)
	c.OptTime("started", &f.Started)
	c.OptTime("ended", &f.Ended)
	c.End()
}

// codeResubmission codes the field resubmits.
func codeResubmission(c *plainjson.Codec, resubmits **Resubmission) {
	if !c.Begin("resubmits", *resubmits != nil) {
		return
	}
	r := made(resubmits)
	c.Time("nominal", &r.Nominal)
	c.OptTime("previous", &r.Previous)
	c.End()
}

// made returns what p points to, allocating it if nil.
func made[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}
