// Package permit says which NATS subjects each role needs: what to write into the permissions of a user of the NATS server,
// which then decides who may do what over NATS. The subjects follow from the table of operations (package api).
//
// Everything is by permission to publish and to subscribe, and nothing is denied: what no role needs, none has, above all
// the API of JetStream ($JS.API), the buckets ($KV) and the subjects of batons. A user gets its answers below a prefix of
// its own and may subscribe to no other's, so that it cannot read theirs.
package permit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/api"
)

// Role is who a NATS user is to Carillon: one of the roles of package access, or one of those below.
type Role string

// The roles.
const (
	Reader    = Role(access.Reader)
	Operator  = Role(access.Operator)
	Admin     = Role(access.Admin)
	Publisher = Role("publisher") // publishes specs of jobs, and hears what became of them
	Scheduler = Role("scheduler") // the scheduler's own processes
)

// Roles are all roles.
var Roles = []Role{Reader, Operator, Admin, Publisher, Scheduler}

// Config says whose permissions are wanted.
type Config struct {
	Role        Role
	Collections []string // by name; none: all, and what belongs to none of them. Not for a scheduler
	User        string   // whose inbox prefix is _INBOX_<user>; "": the common one, _INBOX, which all can read
	Prefix      string   // of the scheduler's subjects. Default "carillon"
}

// Permissions are what a user may publish and subscribe to.
type Permissions struct {
	Publish   []string `json:"publish"`
	Subscribe []string `json:"subscribe"`
	Responses bool     `json:"allowResponses,omitempty"` // it may answer what it has received
}

// subject is one that roles have, below the prefix. {c} stands for a collection.
type subject struct {
	name   string
	least  access.Role // that has it
	global bool        // it belongs to no collection, or tells of all: only who has the role on all of them has it
	spec   bool        // publishers have it, too
}

// published are the subjects that users publish to: all operations, and the request to end a live tail, which only its
// owner can name.
var published = append(ofOperations(), subject{name: "api.unfollow.*", least: access.Reader})

// leastOf are the least roles that have a right.
var leastOf = map[access.Right]access.Role{
	access.Known: access.Reader, access.Read: access.Reader, access.ReadAny: access.Reader,
	access.Operate: access.Operator, access.OperateAny: access.Operator,
	access.Administer: access.Admin,
}

// ofOperations are the subjects of the operations, and of their published specs.
func ofOperations() []subject {
	var all []subject
	names := strings.NewReplacer("{j}", "*", "{id}", "*", "{name}", "*")
	for _, e := range api.Endpoints() {
		name, least := names.Replace(e.Subject), leastOf[e.Right]
		global := !strings.Contains(name, "{c}") && e.Right != access.Known
		all = append(all, subject{name: "api." + name, least: least, global: global})
		if e.Published {
			all = append(all, subject{name: "spec." + name, least: least, spec: true})
		}
	}
	return all
}

// subscribed are the subjects that users subscribe to.
var subscribed = []subject{
	{name: "history.{c}.>", least: access.Reader},
	{name: "spec-result.*.{c}.>", least: access.Reader, spec: true},
	{name: "history.>", least: access.Reader, global: true},
	{name: "spec-result.>", least: access.Reader, global: true, spec: true},
	{name: "audit.job.{c}.>", least: access.Admin},
	{name: "audit.collection.{c}", least: access.Admin},
	{name: "audit.>", least: access.Admin, global: true},
}

// services are the subjects on which micro services are found: nats micro ls, info and stats.
var services = []string{"$SRV.PING", "$SRV.*.carillon", "$SRV.*.carillon.*"}

// Least returns the least role that may publish to a subject below the prefix, with {c} for the collection and * for the
// rest, and whether it must have it on all collections; "" for what users do not publish to.
func Least(name string) (least access.Role, global bool) {
	for _, s := range published {
		if s.name == name {
			return s.least, s.global
		}
	}
	return "", false
}

// For returns the permissions of a user. The error names what of the Config is wrong.
func For(cfg Config) (Permissions, error) {
	if !slices.Contains(Roles, cfg.Role) {
		return Permissions{}, fmt.Errorf("%q is no role; there are reader, operator, admin, publisher and scheduler", cfg.Role)
	}
	for _, c := range cfg.Collections {
		if err := scheduler.ValidateCollection(c); err != nil {
			return Permissions{}, err
		}
	}
	if strings.ContainsAny(cfg.User, " .*>\t\r\n") {
		return Permissions{}, fmt.Errorf(
			"user %q: its inbox prefix _INBOX_%s must be one token of a subject; leave out dots, spaces, * and >", cfg.User, cfg.User,
		)
	}
	cfg.Prefix = cmp.Or(cfg.Prefix, "carillon")
	if cfg.Role == Scheduler {
		if len(cfg.Collections) > 0 {
			return Permissions{}, errors.New("a scheduler has all collections")
		}
		return ofScheduler(cfg), nil
	}
	p := Permissions{Publish: cfg.subjects(published), Subscribe: append([]string{cfg.inbox()}, cfg.subjects(subscribed)...)}
	if cfg.Role != Publisher {
		p.Publish = append(p.Publish, services...)
	}
	return p, nil
}

// inbox is where the user gets its answers.
func (cfg *Config) inbox() string {
	if cfg.User == "" {
		return "_INBOX.>"
	}
	return "_INBOX_" + cfg.User + ".>"
}

// subjects returns those of a table that the user has.
func (cfg *Config) subjects(table []subject) []string {
	role := slices.Index(access.Roles(), access.Role(cfg.Role))
	var names []string
	for _, s := range table {
		least := slices.Index(access.Roles(), s.least)
		has := least >= 0 && role >= least // a subject without a least role is for nobody
		if cfg.Role == Publisher {
			has = s.spec
		}
		if !has || s.global && len(cfg.Collections) > 0 {
			continue
		}
		name := cfg.Prefix + "." + s.name
		if len(cfg.Collections) == 0 {
			names = append(names, strings.ReplaceAll(name, "{c}", "*"))
			continue
		}
		for _, c := range cfg.Collections {
			one := strings.ReplaceAll(name, "{c}", c)
			if !slices.Contains(names, one) { // of one that names no collection
				names = append(names, one)
			}
		}
	}
	return names
}

// ofScheduler are the permissions of the scheduler's own processes. What actions of the type natsMessage publish with the
// scheduler's connection is to be added.
func ofScheduler(cfg Config) Permissions {
	bucket := strings.ReplaceAll(cfg.Prefix, ".", "_")
	p := Permissions{
		Publish: []string{cfg.Prefix + ".>", "$JS.API.>", "$JS.ACK.>", "$SYS.REQ.USER.INFO"},
		Subscribe: []string{
			cfg.Prefix + ".>", "$SRV.>", cfg.inbox(),
		},
		Responses: true,
	}
	for _, name := range []string{"settings", "jobs", "collections", "secrets", "tokens", "operations"} {
		p.Publish = append(p.Publish, "$KV."+bucket+"-"+name+".>")
	}
	return p
}
