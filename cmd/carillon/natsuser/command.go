// Package natsuser is the command that prints the permissions that NATS users need.
package natsuser

import (
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/natsapi/permit"
)

// Command is `carillon nats`.
type Command struct {
	Permissions permissions `cmd:"" help:"Print which subjects a NATS user needs, by its role."`
}

type permissions struct {
	Role       permit.Role `help:"Role of the user: reader, operator, admin, publisher (of specs) or scheduler." required:"true" enum:"reader,operator,admin,publisher,scheduler" placeholder:"ROLE"`
	Collection []string    `help:"Limit the role to this collection. Separate with commas, or repeat. Default: all." placeholder:"NAME"`
	User       string      `help:"Name of the user, who receives responses below _INBOX_NAME, which other users cannot read. Default: the common _INBOX." placeholder:"NAME"`
	Prefix     string      `help:"Prefix of the scheduler on NATS." default:"carillon" env:"CARILLON_PREFIX" placeholder:"PREFIX"`
	NSC        bool        `name:"nsc" help:"Print flags of nsc, for users with JWTs, instead of a configuration block."`
}

// Run prints the permissions.
func (c permissions) Run(t *terminal.Terminal) error {
	p, err := permit.For(permit.Config{Role: c.Role, Collections: c.Collection, User: c.User, Prefix: c.Prefix})
	switch {
	case err != nil:
		return terminal.Usage(err)
	case t.JSON:
		return t.PrintJSON(p)
	case c.NSC:
		t.Printf("%s", p.NSC())
	default:
		t.Printf("%s", p.Conf())
	}
	return nil
}
