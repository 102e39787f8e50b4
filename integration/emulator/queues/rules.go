package queues

import (
	"net/http"
	"strconv"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// rulesView shows the rules of subscriptions, and what they make of a message.
type rulesView struct {
	Entity  browse.Entity // a topic or a subscription
	At      string
	Rules   []ruleSet
	Draft   draftView
	Tested  bool
	Of      string // the message that was tested; "" for what was typed
	Problem string
	Wrong   map[string]string
	Found   []browse.Message // to choose from
	Passes  int

	MayManage bool
}

// A ruleSet is a subscription with its rules.
type ruleSet struct {
	Subscription browse.Entity
	Rules        []browse.Rule
	Trials       []browse.Trial
	Passes       bool // of any rule
}

// subscriptions are those that a page of rules is about: one, or all of a topic.
func (r *room) subscriptions(e browse.Entity) []browse.Entity {
	if e.Kind == browse.Subscription {
		return []browse.Entity{e}
	}
	var all []browse.Entity
	for _, other := range r.bus().Entities() {
		if other.Topic == e.Name && e.Kind == browse.Topic {
			all = append(all, other)
		}
	}
	return all
}

// rulesOf is a page of rules without a test.
func (r *room) rulesOf(c *frame.Call, e browse.Entity) *rulesView {
	v := &rulesView{Entity: e, At: e.Path, Draft: emptyDraft(e).padded(), MayManage: c.May(access.Administer, "")}
	v.Draft.Test = true
	for _, s := range r.subscriptions(e) {
		rules, err := r.bus().Rules(s.Path)
		if err != nil {
			continue // deleted meanwhile
		}
		v.Rules = append(v.Rules, ruleSet{Subscription: s, Rules: rules})
		for _, part := range []browse.Part{browse.Active, browse.Dead} {
			if page, err := r.bus().Peek(browse.Query{Path: s.Path, Part: part, Most: 10}); err == nil && len(v.Found) < 20 {
				v.Found = append(v.Found, page.Messages...)
			}
		}
	}
	if e.Kind == browse.Topic {
		v.Found = nil // each has numbers of its own
	}
	return v
}

// try asks all rules about a message.
func (v *rulesView) try(ask func(path string) ([]browse.Trial, error)) error {
	v.Tested = true
	for i := range v.Rules {
		set := &v.Rules[i]
		trials, err := ask(set.Subscription.Path)
		if err != nil {
			return err
		}
		set.Trials = trials
		for _, t := range trials {
			set.Passes = set.Passes || t.Passes
		}
		if set.Passes {
			v.Passes++
		}
	}
	return nil
}

func (r *room) rules(c *frame.Call) error {
	e, err := r.entityOf(c)
	if err != nil {
		return err
	}
	if e.Kind == browse.Queue {
		return frame.Problem{Status: http.StatusNotFound, Text: c.Say("queues.rules.queue", e.Path), Hint: c.Say("queues.rules.queue.hint")}
	}
	v := r.rulesOf(c, e)
	if text := c.Query("n"); text != "" {
		n, err := number(c, text)
		if err != nil {
			return err
		}
		from := c.Query("from")
		if from == "" {
			from = e.Path
		}
		v.Of = strconv.FormatInt(n, 10)
		err = v.try(func(path string) ([]browse.Trial, error) {
			return r.bus().TryMessage(path, from, partOf(c.Query("part")), n)
		})
		if err != nil {
			return problem(c, err)
		}
	}
	return r.showRules(c, v, http.StatusOK)
}

// try asks the rules about what was typed.
func (r *room) try(c *frame.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	e, err := r.at(c, form.Get("at"))
	if err != nil {
		return err
	}
	v := r.rulesOf(c, e)
	d, wrong := readDraft(c, form)
	v.Draft = v.Draft.refilled(form).padded()
	v.Draft.Wrong = wrong
	status := http.StatusOK
	if len(wrong) == 0 {
		err = v.try(func(path string) ([]browse.Trial, error) { return r.bus().Try(path, d) })
		if err != nil {
			wrong["form"] = c.Describe(problem(c, err)).Text
			v.Tested = false
		}
	}
	if len(wrong) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return r.showRules(c, v, status)
}

func (r *room) showRules(c *frame.Call, v *rulesView, status int) error {
	return c.Show(&frame.Page{
		Status: status, Title: c.Say("queues.rules.title", titled(v.Entity.Path)), Template: rulesPage, Data: v,
		Styles: styles, Scripts: scripts,
	})
}
