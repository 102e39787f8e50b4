package scheduler

import "github.com/carillon-sched/carillon/scheduler/internal/plainjson"

// The members of a stored record, written and read in the order of the fields of
// [storedRecord].

func (s *storedRecord) encode() ([]byte, error) {
	size := recordSize + len(s.Data) + len(s.Message) + len(s.Headers) + len(s.Response) + 2*len(s.Occurrence)
	if s.Engine.Failed != nil {
		size += len(s.Engine.Failed.Message)
	}
	w := plainjson.NewWriter(size)
	w.Int("version", s.Version)
	s.writeForm(&w)
	s.Engine.write(&w)
	return w.Bytes()
}

// recordSize is about how long a stored record is without its texts, some of whose
// bytes are escaped.
const recordSize = 832

// read is the reverse of encode. False means that data is not as that writes it.
func (s *storedRecord) read(data []byte) bool {
	r := plainjson.NewReader(data)
	r.Int("version", &s.Version)
	s.readForm(&r)
	s.Engine.read(&r)
	return r.Done()
}

func (f *RecordForm) writeForm(w *plainjson.Writer) {
	w.OptTime("startTime", f.Started)
	w.OptTime("endTime", f.Ended)
	w.OptTime("expectedExecutionTime", f.Nominal)
	w.Text("actionName", f.Action)
	w.OptText("status", f.Status)
	w.OptText("message", f.Message)
	w.OptText("summary", f.Summary)
	w.Int("retryCount", f.Retry)
	w.Int("repeatCount", f.Repeat)
	w.OptText("occurrence", f.Occurrence)
	w.OptText("attemptId", f.Attempt)
	w.OptTime("dueTime", f.Due)
	f.Lateness.write(w, "lateness")
	w.OptTrue("late", f.Late)
	f.Duration.write(w, "duration")
	w.OptText("actionType", f.ActionType)
	w.OptText("actionPath", f.ActionPath)
	w.OptText("target", f.Target)
	w.OptInt("statusCode", f.StatusCode)
	w.OptTrue("final", f.Final)
	if f.RetryAfter != 0 {
		f.RetryAfter.write(w, "retryAfter")
	}
	w.OptText("responseHeaders", f.Headers)
	w.OptText("response", f.Response)
	w.OptTrue("manual", f.Manual)
	w.OptText("resubmits", f.Resubmits)
	w.OptText("reason", string(f.Reason))
	w.OptTime("from", f.From)
	w.OptTime("to", f.To)
	w.OptInt("count", f.Count)
	w.OptTime("faultedTime", f.GivenUp)
	w.OptText("uid", f.UID)
	w.OptText("traceId", f.Trace)
	w.OptRaw("data", f.Data)
}

func (f *RecordForm) readForm(r *plainjson.Reader) {
	r.Time("startTime", &f.Started)
	r.Time("endTime", &f.Ended)
	r.Time("expectedExecutionTime", &f.Nominal)
	r.Word("actionName", &f.Action, mainActionName, errorActionName)
	r.Word("status", &f.Status, outcomeTitles...)
	r.Text("message", &f.Message)
	r.Text("summary", &f.Summary)
	r.Int("retryCount", &f.Retry)
	r.Int("repeatCount", &f.Repeat)
	r.Text("occurrence", &f.Occurrence)
	r.Text("attemptId", &f.Attempt)
	r.Time("dueTime", &f.Due)
	f.Lateness = readSeconds(r, "lateness")
	r.True("late", &f.Late)
	f.Duration = readSeconds(r, "duration")
	r.Text("actionType", &f.ActionType)
	r.Text("actionPath", &f.ActionPath)
	r.Text("target", &f.Target)
	r.Int("statusCode", &f.StatusCode)
	r.True("final", &f.Final)
	if s := readSeconds(r, "retryAfter"); s != nil {
		f.RetryAfter = *s
	}
	r.Text("responseHeaders", &f.Headers)
	r.Text("response", &f.Response)
	r.True("manual", &f.Manual)
	r.Text("resubmits", &f.Resubmits)
	r.Word("reason", (*string)(&f.Reason), reasonWords...)
	r.Time("from", &f.From)
	r.Time("to", &f.To)
	r.Int("count", &f.Count)
	r.Time("faultedTime", &f.GivenUp)
	r.Text("uid", &f.UID)
	r.Text("traceId", &f.Trace)
	r.Raw("data", (*[]byte)(&f.Data))
}

// write writes the member engine, if there is anything in it.
func (e *storedEngine) write(w *plainjson.Writer) {
	at := w.OptBegin("engine")
	w.OptInt("try", e.Try)
	w.OptTrue("detached", e.Detached)
	w.OptInt("errorAction", e.ErrorAction)
	e.Resubmits.write(w)
	e.Failed.write(w)
	e.Trace.write(w)
	w.OptUint("revision", e.Revision)
	w.OptInt("schedule", e.Schedule)
	w.OptUint("defaults", e.Defaults)
	w.OptTime("resume", e.Resume)
	progress := w.OptBegin("progress")
	e.Progress.writeProgress(w)
	w.OptEnd(progress)
	w.OptEnd(at)
}

func (e *storedEngine) read(r *plainjson.Reader) {
	if !r.Begin("engine") {
		return
	}
	r.Int("try", &e.Try)
	r.True("detached", &e.Detached)
	r.Int("errorAction", &e.ErrorAction)
	e.Resubmits = readResubmission(r)
	e.Failed = readFailure(r)
	e.Trace = readTrace(r)
	r.Uint("revision", &e.Revision)
	r.Int("schedule", &e.Schedule)
	r.Uint("defaults", &e.Defaults)
	r.Time("resume", &e.Resume)
	if r.Begin("progress") {
		e.Progress.readProgress(r)
		r.End()
	}
	r.End()
}

// write writes a member, if there is a length of time.
func (s *Seconds) write(w *plainjson.Writer, name string) {
	if s != nil {
		var text [secondsLength]byte
		w.Number(name, s.append(text[:0]))
	}
}

func readSeconds(r *plainjson.Reader, name string) *Seconds {
	text := r.Number(name)
	if text == nil {
		return nil
	}
	s := new(Seconds)
	if s.UnmarshalJSON(text) != nil {
		r.Refuse()
	}
	return s
}
