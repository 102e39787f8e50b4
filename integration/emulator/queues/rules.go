package queues

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// rulesView shows the rules of subscriptions, and their effect on a message.
type rulesView struct {
	Entity  browse.Entity // a topic or a subscription
	At      string
	Rules   []ruleSet
	Draft   draftView
	Tested  bool
	Of      string // the tested message; "" for the typed one
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
func (r *section) subscriptions(e browse.Entity) []browse.Entity {
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
func (r *section) rulesOf(c *frame.Request, e browse.Entity) *rulesView {
	v := &rulesView{Entity: e, At: e.Path, Draft: emptyDraft(e).padded(), MayManage: c.May(auth.Administer, "")}
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
		v.Found = nil // sequence numbers differ between parts
	}
	return v
}

// try evaluates all rules for a message.
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

func (r *section) rules(c *frame.Request, e browse.Entity) error {
	if e.Kind == browse.Queue {
		return frame.Problem{
			Status: http.StatusNotFound, Text: c.Text("queues.rules.queue", e.Path), Hint: c.Text("queues.rules.queue.hint"),
		}
	}
	v := r.rulesOf(c, e)
	if text := c.Query("n"); text != "" {
		n, err := number(c, text)
		if err != nil {
			return err
		}
		from := cmp.Or(c.Query("from"), e.Path)
		v.Of = strconv.FormatInt(n, 10)
		err = v.try(func(path string) ([]browse.Trial, error) {
			return r.bus().TryMessage(path, from, partAsked(c), n)
		})
		if err != nil {
			return problem(c, err)
		}
	}
	return r.showRules(c, v, http.StatusOK)
}

// try applies the rules to the typed message.
func (r *section) try(c *frame.Request, form url.Values, e browse.Entity) error {
	v := r.rulesOf(c, e)
	d, wrong := readDraft(c, form)
	v.Draft = v.Draft.refilled(form).padded()
	v.Draft.Wrong = wrong
	status := http.StatusOK
	if len(wrong) == 0 {
		err := v.try(func(path string) ([]browse.Trial, error) { return r.bus().Try(path, d) })
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

func (r *section) showRules(c *frame.Request, v *rulesView, status int) error {
	return rulesPage.show(c, status, c.Text("queues.rules.title", titled(v.Entity.Path)), v)
}

// The kinds of filters.
const (
	filterTrue        = "true"
	filterFalse       = "false"
	filterSQL         = "sql"
	filterCorrelation = "correlation"
)

// ruleForm is the form of a rule.
type ruleForm struct {
	Entity     browse.Entity
	Rule       browse.Rule
	Fresh      bool
	Kinds      []string
	Types      []string
	Fields     []browse.Property // of the message itself
	Properties []browse.Property
	Parameters []browse.Property
	Wrong      map[string]string
	Was        string       // identifies the rule that the form showed first
	Now        *browse.Rule // the rule after a concurrent change
	Back       string
}

// Crumbs leads back from the form.
func (v ruleForm) Crumbs() [][2]string {
	return append(crumbs(v.Entity), [2]string{v.Back, words.Text("queues.rules")})
}

// TypesWith returns the possible types of a property, including own.
func (v ruleForm) TypesWith(own string) []string { return draftView{Types: v.Types}.TypesWith(own) }

// correlationFields are the properties of a message itself that a correlation filter may ask about.
var correlationFields = []string{
	"sys.Label", "sys.CorrelationId", "sys.MessageId", "sys.SessionId", "sys.To", "sys.ReplyTo", "sys.ReplyToSessionId", "sys.ContentType",
}

func ruleFormOf(e browse.Entity, rule browse.Rule, fresh bool) ruleForm {
	v := ruleForm{
		Entity: e, Rule: rule, Fresh: fresh, Was: stamp(rule),
		Kinds: []string{filterSQL, filterCorrelation, filterTrue, filterFalse}, Types: types,
		Parameters: rule.Parameters, Back: address("/rules", "at", e.Path),
	}
	given := map[string]string{}
	for _, f := range rule.Fields {
		if strings.HasPrefix(f.Name, "sys.") {
			given[f.Name] = f.Value
		} else {
			v.Properties = append(v.Properties, f)
		}
	}
	for _, name := range correlationFields {
		v.Fields = append(v.Fields, browse.Property{Name: name, Type: "string", Value: given[name]})
	}
	v.Properties = withBlanks(v.Properties, blankProperties)
	v.Parameters = withBlanks(slices.Clip(v.Parameters), 2)
	return v
}

// stamp identifies the effect of a rule.
func stamp(r browse.Rule) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", []any{r.Kind, r.Expression, r.Action, r.Parameters, r.Fields})))
}

func showRule(c *frame.Request, v ruleForm, status int) error {
	title := c.Text("queues.rule.change.title", v.Rule.Name, titled(v.Entity.Path))
	if v.Fresh {
		title = c.Text("queues.rule.new.title", titled(v.Entity.Path))
	}
	return rulePage.show(c, status, title, v)
}

// ruleOf returns a rule of a subscription by its name.
func (r *section) ruleOf(e browse.Entity, name string) (browse.Rule, error) {
	rules, err := r.bus().Rules(e.Path)
	if err != nil {
		return browse.Rule{}, err
	}
	for _, rule := range rules {
		if strings.EqualFold(rule.Name, name) {
			return rule, nil
		}
	}
	return browse.Rule{}, errMissing
}

func (r *section) editRule(c *frame.Request, e browse.Entity) error {
	name := c.Query("name")
	if name == "" {
		return showRule(c, ruleFormOf(e, browse.Rule{Kind: filterSQL}, true), http.StatusOK)
	}
	rule, err := r.ruleOf(e, name)
	if err != nil {
		return problem(c, err)
	}
	return showRule(c, ruleFormOf(e, rule, false), http.StatusOK)
}

// rows reads the rows of a table of properties. wrong says at a place when a value has no name, or two have the same.
func rows(c *frame.Request, form url.Values, prefix, place string, wrong map[string]string) []browse.Property {
	var all []browse.Property
	for _, row := range typedRows(form, prefix) {
		switch {
		case row.Name == "":
			wrong[place] = c.Text("queues.wrong.name", row.Value)
		case slices.ContainsFunc(all, func(p browse.Property) bool { return p.Name == row.Name }):
			wrong[place] = c.Text("queues.wrong.twice", row.Name)
		default:
			all = append(all, row)
		}
	}
	return all
}

// typedRows are the rows of a table of properties that are not blank.
func typedRows(form url.Values, prefix string) (all []browse.Property) {
	names, kinds, values := form[prefix+"name"], form[prefix+"type"], form[prefix+"value"]
	for i := range min(len(names), len(kinds), len(values)) {
		if names[i] != "" || values[i] != "" {
			all = append(all, browse.Property{Name: names[i], Type: kinds[i], Value: values[i]})
		}
	}
	return all
}

// withBlanks adds blank rows to a table of properties.
func withBlanks(rows []browse.Property, n int) []browse.Property {
	return append(rows, slices.Repeat([]browse.Property{{Type: "string"}}, n)...)
}

// readRule reads the form of a rule.
func readRule(c *frame.Request, form url.Values, wrong map[string]string) browse.Rule {
	rule := browse.Rule{
		Name: strings.TrimSpace(form.Get("name")), Kind: form.Get("kind"), Action: strings.TrimSpace(lines(form.Get("action"))),
	}
	rule.Parameters = rows(c, form, "a", "parameters", wrong)
	switch rule.Kind {
	case filterSQL:
		rule.Expression = strings.TrimSpace(lines(form.Get("expression")))
	case filterCorrelation:
		for _, name := range correlationFields {
			if text := form.Get(name); text != "" {
				rule.Fields = append(rule.Fields, browse.Property{Name: name, Type: "string", Value: text})
			}
		}
		rule.Fields = append(rule.Fields, rows(c, form, "p", "fields", wrong)...)
		if len(rule.Fields) == 0 && wrong["fields"] == "" {
			wrong["fields"] = c.Text("queues.wrong.fields")
		}
	}
	if rule.Name == "" {
		wrong["name"] = c.Text("queues.wrong.noname")
	}
	return rule
}

func (r *section) putRule(c *frame.Request, form url.Values, e browse.Entity) error {
	wrong := map[string]string{}
	rule := readRule(c, form, wrong)
	v, status := r.ruled(c, e, rule, form, wrong)
	if status != http.StatusOK {
		return showRule(c, v, status)
	}
	return c.Done(c.Text("queues.rule.saved", rule.Name), address("/rules", "at", e.Path))
}

// ruled puts a rule into a subscription, unless it has changed since its form was shown. It returns the status
// of the response. It does not hold the lock while the response is written.
func (r *section) ruled(
	c *frame.Request, e browse.Entity, rule browse.Rule, form url.Values, wrong map[string]string,
) (v ruleForm, status int) {
	fresh := form.Get("replace") == ""
	r.changing.Lock() // check and change atomically
	defer r.changing.Unlock()
	if now, err := r.ruleOf(e, rule.Name); err == nil && form.Has("was") && form.Get("was") != stamp(now) && !fresh {
		v = ruleFormOf(e, rule, false)
		v.Wrong, v.Now, v.Was = wrong, &now, stamp(now)
		return v, http.StatusConflict
	}
	if len(wrong) == 0 {
		err := r.bus().PutRule(e.Path, rule, !fresh)
		if err == nil {
			return v, http.StatusOK
		}
		if part, ok := errors.AsType[*browse.RuleError](err); ok {
			wrong[part.Part] = part.Error()
		} else {
			wrong["form"] = c.Describe(problem(c, err)).Text
		}
	}
	v = ruleFormOf(e, rule, fresh)
	v.Wrong, v.Was = wrong, form.Get("was")
	return v, http.StatusUnprocessableEntity
}

func (r *section) deleteRule(c *frame.Request, form url.Values) error {
	path, name := form.Get("at"), form.Get("name")
	return done(c, r.bus().DeleteRule(path, name), c.Text("queues.rule.deleted", name), address("/rules", "at", path))
}

func (r *section) confirmRule(c *frame.Request, e browse.Entity) error {
	rule, err := r.ruleOf(e, c.Query("name"))
	if err != nil {
		return problem(c, err)
	}
	rules, err := r.bus().Rules(e.Path)
	if err != nil {
		return problem(c, err)
	}
	hint := c.Text("queues.rule.drop.hint")
	if len(rules) == 1 {
		hint = c.Text("queues.rule.drop.last")
	}
	v := confirmEntity(e)
	v.Text, v.Hint, v.Action = c.Text("queues.rule.drop", rule.Name, e.Path), hint, Path+"/rule/delete"
	v.Button, v.Danger, v.Back = c.Text("queues.rule.drop.button"), true, address("/rules", "at", e.Path)
	v.Steps = append(v.Steps, [2]string{v.Back, c.Text("queues.rules")})
	v.Fields = append(v.Fields, [2]string{"name", rule.Name})
	return v.ask(c, c.Text("queues.rule.drop.title", rule.Name))
}
