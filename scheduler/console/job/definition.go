package job

import (
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console/command"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/variable"
)

// action is the main action or an error action of a job.
type action struct {
	Error   bool
	Type    string
	Target  string
	Request string // summary of its request
	Members []setting
}

// setting is a field of a definition, by its path.
type setting struct {
	Name  string
	Value excerpt
	Code  bool
}

// Limits of a shown action; the document shows all of it.
const (
	mostMembers  = 24
	memberLength = 240
)

// actionsOf returns the main action and the error actions of a job, in the order of the document.
func actionsOf(d *scheduler.Definition) (all []action) {
	requests := v1.Requests(d.Document()) // in the same order
	var add func(s *scheduler.ActionSpec)
	add = func(s *scheduler.ActionSpec) {
		a := action{Error: len(all) > 0, Type: s.Type, Target: s.Run.Target()}
		if len(all) < len(requests) {
			r := requests[len(all)]
			a.Request = r.Shown()
			flatten(jobform.At(d.Document(), r.Path).Without("type", "errorAction"), "", &a.Members)
		}
		all = append(all, a)
		for i := range s.OnError {
			add(&s.OnError[i])
		}
	}
	add(&d.Action)
	return all
}

// flatten lists the fields of a document. It marks secrets without their values.
func flatten(v document.Value, at string, to *[]setting) {
	if len(*to) >= mostMembers {
		return
	}
	switch {
	case v.IsSecret():
		*to = append(*to, setting{Name: at, Value: excerpt{Text: words.Text("job.secret")}})
	case v.Kind() == document.KindObject:
		for _, m := range v.Members() {
			flatten(m.Value, strings.TrimPrefix(at+"."+m.Name, "."), to)
		}
	case v.Kind() == document.KindArray:
		*to = append(*to, setting{Name: at, Value: excerptOf(string(v.JSON()), memberLength), Code: true})
	case v.Kind() == document.KindString:
		*to = append(*to, setting{Name: at, Value: excerptOf(v.Text(), memberLength), Code: true})
	default:
		*to = append(*to, setting{Name: at, Value: excerpt{Text: string(v.JSON())}, Code: true})
	}
}

// settingsOf returns the other settings of a job.
func settingsOf(j *scheduler.Job) []setting {
	var all []setting
	add := func(name, value string) { all = append(all, setting{Name: name, Value: excerpt{Text: value}}) }
	add(words.Text("common.time-zone"), j.Plan.Zone().String())
	d := j.Def
	if d.Jitter > 0 {
		add(words.Text("job.setting.jitter"), frame.Took(d.Jitter))
	}
	if d.Overlap != "" {
		add(words.Text("job.setting.overlap"), words.Text("job.overlap."+string(d.Overlap)))
	}
	if d.CatchUp.Policy != "" {
		add(words.Text("job.setting.catchup"), words.Text("job.catchup."+string(d.CatchUp.Policy)))
	}
	if d.Timeout > 0 {
		add(words.Text("job.setting.timeout"), frame.Took(d.Timeout))
	}
	if d.LateAfter > 0 {
		add(words.Text("job.setting.late"), frame.Took(d.LateAfter))
	}
	for _, name := range []string{"trigger", "onlyIf", "onSuccess", "onFailure"} {
		if v, ok := d.Document().Member(name); ok {
			flatten(v, name, &all)
		}
	}
	for _, m := range d.Inherited.Members() {
		add(words.Text("job.setting.inherited", m.Name), m.Value.String())
	}
	return all
}

// standing is the summary of a job: its current state, and what would change it.
type standing struct {
	State string // name of its mark
	Class string // of the box: note, warning or problem; "": none
	Text  string
	Hint  string
}

// standingOf summarizes a job. It is pure.
func standingOf(v *v1.Job, beside []control.DetachedRun, now time.Time) standing {
	s := standing{State: string(v.Job.State)}
	switch {
	case v.Job.State == scheduler.Damaged:
		s.Class, s.Text, s.Hint = "problem", v.Status.Message, words.Text("job.is.damaged.hint")
	case v.Job.State.Final():
		s.Text = upper(v.Status.Message)
		s.Class = "note"
		if v.Job.State == scheduler.Faulted {
			s.Class = "problem"
		}
	case v.Job.State == scheduler.Disabled:
		s.Class, s.Text, s.Hint = "warning", words.Text("job.is.disabled"), words.Text("job.is.disabled.hint")
	case v.Status.Running && v.Status.Retry > 0:
		s.State, s.Text = "running", words.Text("job.is.running.retry", v.Status.Retry)
	case v.Status.Running:
		s.State, s.Text = "running", words.Text("job.is.running")
	case v.Status.WaitsFor != "":
		s.State, s.Class = "postponed", "warning"
		s.Text, s.Hint = words.Text("job.is.waiting", v.Status.WaitsFor), words.Text("job.is.waiting.hint")
	case v.Job.PausedAt(now) && v.Status.Retry == 0:
		s.State, s.Class = string(v1.Paused), "warning"
		s.Text, s.Hint = words.Text("job.is.paused", onClock(v.Job.PausedUntil, v.Job)), words.Text("job.is.paused.hint")
	case v.Status.Retry > 0:
		s.State, s.Text = "retrying", words.Count("job.is.retrying", v.Status.Retry)
	case v.Status.Next.IsZero() && v.Job.OnlyEvents():
		s.Text = words.Text("job.is.on-events")
	case v.Status.Next.IsZero():
		s.Class, s.Text, s.Hint = "warning", words.Text("job.is.stranded"), words.Text("job.is.stranded.hint")
	case v.Status.AlwaysFails():
		s.State, s.Text = "failing", words.Text("job.is.failing") // the last failure follows
	default:
		s.Text = words.Text("job.is.enabled")
	}
	if len(beside) > 0 {
		s.addBeside(beside)
	}
	return s
}

// addBeside adds the job's concurrent runs.
func (s *standing) addBeside(beside []control.DetachedRun) {
	s.Text += " " + words.Count("job.is.beside", len(beside))
	idle := s.State == string(scheduler.Disabled) || s.State == string(scheduler.Enabled)
	if idle && slices.ContainsFunc(beside, func(b control.DetachedRun) bool { return b.Running }) {
		s.State = "running"
	}
}

// onClock formats an instant on a job's clock.
func onClock(t time.Time, j *scheduler.Job) string {
	zone := time.UTC
	if j.Plan != nil {
		zone = j.Plan.Zone()
	}
	return words.Date(t.In(zone), clockForm+" MST")
}

// upper capitalizes a sentence.
func upper(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:] + "."
	}
	return s
}

// copies are commands that put a job again, here or elsewhere, without secrets.
type copies struct {
	name

	YAML    string
	Curl    string
	Apply   string
	NATS    string
	Secrets []string // paths of secrets to be added
	Over    bool     // the job has ended and would run again elsewhere
}

// showCopy answers with the commands: a page, or its content alone.
func (r section) showCopy(c *frame.Request) error {
	k := key(c)
	v, err := r.service.Get(c.Context(), k)
	if err != nil {
		return gone(c, err)
	}
	if v.Job.State == scheduler.Damaged {
		return frame.Problem{Status: 409, Text: v.Status.Message, Hint: c.Text("job.is.damaged.hint")}
	}
	copies := copiesOf(v, c.Server(), r.prefix, !c.Open())
	copies.name = nameOf(c, k)
	return c.Show(shown(c.Text("job.copy")+" · "+k.Job, "job-copy-page", "job-copies", copies))
}

// copiesOf returns the commands for a server and its prefix of published specs. token: the server requires an access
// token.
func copiesOf(v *v1.Job, server, prefix string, token bool) *copies {
	k, own := v.Job.Key, v.Job.Def.Document()
	if !v.Job.State.Final() {
		own = own.Without("state").With(document.StringValue(string(v.Job.State)), "state")
	}
	body := document.ObjectValue(document.Member{Name: "properties", Value: own}).JSON()
	file := document.ObjectValue(append([]document.Member{
		{Name: "name", Value: document.StringValue(k.Job)},
		{Name: "collection", Value: document.StringValue(k.Collection)},
	}, variable.Escape(own).Members()...)...)
	yaml := string(file.YAML())
	subject := strings.Join([]string{prefix, "spec", "put", k.Collection, k.Job}, ".")
	c := &copies{
		YAML: yaml, Over: v.Job.State.Final(),
		Curl:  command.Put(server, k, token, "", string(body)),
		Apply: command.HereDocument("carillon apply --server "+command.Quoted(server)+" -", yaml),
		NATS:  command.HereDocument("nats pub --force-stdin "+command.Quoted(subject), command.Untemplated(string(body))),
	}
	if v.Job.Def.HasSecrets() {
		open, locked := own.SecretPaths()
		c.Secrets = slices.Concat(open, locked)
	}
	return c
}
