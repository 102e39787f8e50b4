package storagequeue

import (
	"net"
	"net/http"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/store"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// A level is what kind of thing a URL names.
type level int

const (
	serviceLevel level = iota
	queueLevel
	messagesLevel
	messageLevel
)

const secondarySuffix = "-secondary"

// A target is what a URL names: http://host/account/queue/messages/id, or http://account.queue.host/queue/messages/id.
type target struct {
	level     level
	account   string
	secondary bool // the copy of the account that can only be read
	queue     string
	message   string
}

func (t *target) name() store.Name {
	return store.Name{Account: t.account, Queue: t.queue}
}

func parseTarget(r *http.Request) (target, error) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	account, ok := accountOfHost(r.Host)
	if !ok {
		account, parts = parts[0], parts[1:]
	}
	if len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	var t target
	t.account, t.secondary = strings.CutSuffix(strings.ToLower(account), secondarySuffix) // it is a host's name, elsewhere
	if !isAccount(t.account) {
		return t, wire.InvalidURI
	}
	switch {
	case len(parts) == 0:
		return t, nil
	case len(parts) > 3 || len(parts) > 1 && parts[1] != "messages":
		return t, wire.InvalidURI
	case len(parts) == 3:
		t.message = parts[2]
	}
	t.level, t.queue = level(len(parts)), parts[0]
	return t, checkQueueName(t.queue)
}

// accountOfHost returns the account of a host name that has one: account.queue.host or account.localhost.
func accountOfHost(hostport string) (string, bool) {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	host = strings.ToLower(host)
	account, rest, ok := strings.Cut(host, ".")
	return account, ok && (rest == "localhost" || strings.HasPrefix(rest, "queue."))
}

// checkQueueName says what is wrong with the name of a queue.
func checkQueueName(name string) error {
	if len(name) < 3 || len(name) > 63 {
		return wire.OutOfRangeName
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return wire.InvalidResourceName
		}
	}
	if name[0] == '-' || name[len(name)-1] == '-' || strings.Contains(name, "--") {
		return wire.InvalidResourceName
	}
	return nil
}
