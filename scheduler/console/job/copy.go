package job

import (
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/command"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/variable"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// copies are commands that put a job again, here or elsewhere, without secrets.
type copies struct {
	name

	YAML    string
	Curl    string
	Apply   string
	NATS    string
	Token   bool     // the first command needs an access token
	Secrets []string // paths of secrets to be added
	Over    bool     // the job has ended and would run again elsewhere
}

// showCopy answers with the commands: a page, or its content alone.
func (r room) showCopy(c *frame.Call) error {
	k := key(c)
	v, err := r.service.Get(c.Context(), k)
	if err != nil {
		return gone(c, err)
	}
	if v.Job.State == scheduler.Damaged {
		return frame.Problem{Status: 409, Text: v.Status.Over, Hint: c.Say("job.is.damaged.hint")}
	}
	open := c.Who.Via == access.ViaOpen || c.Who.Via == access.ViaLoopback
	copies := copiesOf(v, c.Server(), r.prefix, !open)
	copies.name = nameOf(c, k)
	if c.Part() {
		return c.Show(&frame.Page{Template: page, Part: "job-copies", Data: copies})
	}
	return c.Show(shown(c.Say("job.copy")+" · "+k.Job, "copy", copies))
}

// copiesOf returns the commands for a server and its prefix of published specs. token: the server requires an access
// token.
func copiesOf(v *view.Job, server, prefix string, token bool) *copies {
	k, own := v.Job.Key, v.Job.Def.Document()
	members := own.Members()
	if !v.Job.State.Final() {
		members = own.Without("state").With(document.StringValue(string(v.Job.State)), "state").Members()
	}
	body := document.ObjectValue(document.Member{Name: "properties", Value: document.ObjectValue(members...)}).JSON()
	file := document.ObjectValue(append([]document.Member{
		{Name: "name", Value: document.StringValue(k.Job)},
		{Name: "collection", Value: document.StringValue(k.Collection)},
	}, variable.Escape(document.ObjectValue(members...)).Members()...)...)
	yaml := string(file.YAML())
	subject := strings.Join([]string{prefix, "spec", "put", k.Collection, k.Job}, ".")
	c := &copies{
		YAML: yaml, Token: token, Over: v.Job.State.Final(),
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
