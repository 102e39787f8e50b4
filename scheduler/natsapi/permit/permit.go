// Package permit derives the permissions of NATS users from roles and from the table of operations (package api). The
// NATS server then enforces access control (RBAC) for the API on NATS.
//
//	role, collections, user ──► [For] ──► [Permissions] ──► Conf: server configuration
//	                                                    └─► NSC:  flags for nsc, for users with JWTs
//
// The permissions allow subjects and deny none. No role may use the JetStream API ($JS.API), the buckets ($KV) or the
// subjects of batons. Each user receives answers below its own inbox prefix and cannot subscribe to the answers of
// other users.
package permit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/auth"
)

// Role is the role of a NATS user: a role of package auth, or one of those below.
type Role string

// The roles.
const (
	Reader    = Role(auth.Reader)
	Operator  = Role(auth.Operator)
	Admin     = Role(auth.Admin)
	Publisher = Role("publisher") // publishes events, and specs of jobs, and receives the results of specs
	Scheduler = Role("scheduler") // the scheduler's own processes
)

// Roles lists the roles.
var Roles = []Role{Reader, Operator, Admin, Publisher, Scheduler}

// Config describes a NATS user.
type Config struct {
	Role        Role
	Collections []string // by name; none: all collections and global operations. Not for a scheduler
	User        string   // the inbox prefix is _INBOX_<user>; "": the common prefix _INBOX, which all users can read
	Prefix      string   // of the scheduler's subjects. Default: "carillon"
}

// Permissions are the subjects that a user may publish and subscribe to.
type Permissions struct {
	Publish   []string `json:"publish"`
	Subscribe []string `json:"subscribe"`
	Responses bool     `json:"allowResponses,omitempty"` // may answer received messages
}

// subject is a subject below the prefix. {c} stands for a collection.
type subject struct {
	name   string
	least  auth.Role // the least role with permission
	global bool      // belongs to no collection, or covers all: requires the role on all collections
	spec   bool      // also allowed for publishers: specs and events
}

// published are the subjects that users publish to: all operations, the request to end a live tail, whose id only its
// owner knows, and events.
var published = append(ofOperations(),
	subject{name: "api.unfollow.*", least: auth.Reader},
	subject{name: "event.{c}.*", least: auth.Operator, spec: true},
)

// leastOf maps rights to the least role that has them.
var leastOf = map[auth.Right]auth.Role{
	auth.Known: auth.Reader, auth.Read: auth.Reader, auth.ReadAny: auth.Reader,
	auth.Operate: auth.Operator, auth.OperateAny: auth.Operator,
	auth.Administer: auth.Admin,
}

// ofOperations returns the subjects of the operations and of their published specs.
func ofOperations() []subject {
	var all []subject
	names := strings.NewReplacer("{j}", "*", "{id}", "*", "{name}", "*", "{n}", "*")
	for _, e := range api.Endpoints() {
		name, least := names.Replace(e.Subject), leastOf[e.Right]
		global := !strings.Contains(name, "{c}") && e.Right != auth.Known
		all = append(all, subject{name: "api." + name, least: least, global: global})
		if e.Published {
			all = append(all, subject{name: "spec." + name, least: least, spec: true})
		}
	}
	return all
}

// subscribed are the subjects that users subscribe to.
var subscribed = []subject{
	{name: "history.{c}.>", least: auth.Reader},
	{name: "spec-result.*.{c}.>", least: auth.Reader, spec: true},
	{name: "history.>", least: auth.Reader, global: true},
	{name: "spec-result.>", least: auth.Reader, global: true, spec: true},
	{name: "audit.job.{c}.>", least: auth.Admin},
	{name: "audit.collection.{c}", least: auth.Admin},
	{name: "audit.source.{c}.>", least: auth.Admin},
	{name: "audit.>", least: auth.Admin, global: true},
}

// services are the subjects of service discovery: nats micro ls, info and stats.
var services = []string{"$SRV.PING", "$SRV.*.carillon", "$SRV.*.carillon.*"}

// Least returns the least role that may publish to a subject below the prefix, with {c} for the collection and * for
// the rest. global: it must have the role on all collections. Least returns "" for a subject that users do not publish
// to.
func Least(name string) (least auth.Role, global bool) {
	for _, s := range published {
		if s.name == name {
			return s.least, s.global
		}
	}
	return "", false
}

// For returns the permissions of a user. The error names the invalid field of cfg.
func For(cfg Config) (Permissions, error) {
	if !slices.Contains(Roles, cfg.Role) {
		return Permissions{}, fmt.Errorf("%q is not a role; use reader, operator, admin, publisher or scheduler", cfg.Role)
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

// inbox returns the subject of the user's answers.
func (cfg *Config) inbox() string {
	if cfg.User == "" {
		return "_INBOX.>"
	}
	return "_INBOX_" + cfg.User + ".>"
}

// subjects returns the subjects of a table that the user may use.
func (cfg *Config) subjects(table []subject) []string {
	role := slices.Index(auth.Roles(), auth.Role(cfg.Role))
	var names []string
	for _, s := range table {
		least := slices.Index(auth.Roles(), s.least)
		has := least >= 0 && role >= least // without a least role, no user has permission
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
			if !slices.Contains(names, one) { // a subject without {c} repeats for each collection
				names = append(names, one)
			}
		}
	}
	return names
}

// ofScheduler returns the permissions of the scheduler's own processes. Subjects that natsMessage actions publish to,
// and that sources receive, with the scheduler's connection must be added.
func ofScheduler(cfg Config) Permissions {
	bucket := strings.ReplaceAll(cfg.Prefix, ".", "_")
	p := Permissions{
		Publish: []string{cfg.Prefix + ".>", "$JS.API.>", "$JS.ACK.>", "$SYS.REQ.USER.INFO"},
		Subscribe: []string{
			cfg.Prefix + ".>", "$SRV.>", cfg.inbox(),
		},
		Responses: true,
	}
	for _, name := range []string{"settings", "jobs", "collections", "secrets", "tokens", "operations", "listeners", "sources"} {
		p.Publish = append(p.Publish, "$KV."+bucket+"-"+name+".>")
	}
	p.Publish = append(p.Publish, "$O."+bucket+"-index.>")
	return p
}
