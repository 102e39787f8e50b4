package job

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// action is the main action or an error action of a job.
type action struct {
	Path    string // in the job
	Error   bool
	Type    string
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
func actionsOf(d *scheduler.Definition) []action {
	v, _ := d.Document().Member("action")
	all := actionAt(&d.Action, v, "action", false)
	for i, r := range view.Requests(d.Document()) {
		if i < len(all) { // both have the order of the document
			all[i].Request = r.Shown()
		}
	}
	return all
}

func actionAt(s *scheduler.ActionSpec, v document.Value, at string, isError bool) []action {
	a := action{Path: at, Error: isError, Type: s.Type}
	flatten(v.Without("type", "errorAction"), "", &a.Members)
	all := []action{a}
	below, _ := v.Member("errorAction")
	for i := range s.OnError {
		one, place := below, at+".errorAction"
		if below.Kind() == document.KindArray && i < len(below.Items()) {
			one, place = below.Items()[i], fmt.Sprintf("%s[%d]", place, i)
		}
		all = append(all, actionAt(&s.OnError[i], one, place, true)...)
	}
	return all
}

// flatten lists the fields of a document. It marks secrets without their values.
func flatten(v document.Value, at string, to *[]setting) {
	if len(*to) >= mostMembers {
		return
	}
	switch {
	case v.IsSecret():
		*to = append(*to, setting{Name: at, Value: excerpt{Text: words.Say("job.secret")}})
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
	add(words.Say("job.setting.zone"), j.Plan.Zone().String())
	d := j.Def
	if d.Jitter > 0 {
		add(words.Say("job.setting.jitter"), frame.Took(d.Jitter))
	}
	if d.Overlap != "" {
		add(words.Say("job.setting.overlap"), words.Say("job.overlap."+string(d.Overlap)))
	}
	if d.CatchUp.Policy != "" {
		add(words.Say("job.setting.catchup"), words.Say("job.catchup."+string(d.CatchUp.Policy)))
	}
	if d.Timeout > 0 {
		add(words.Say("job.setting.timeout"), frame.Took(d.Timeout))
	}
	if d.LateAfter > 0 {
		add(words.Say("job.setting.late"), frame.Took(d.LateAfter))
	}
	for _, m := range d.Inherited.Members() {
		add(words.Say("job.setting.inherited", m.Name), m.Value.String())
	}
	return all
}
