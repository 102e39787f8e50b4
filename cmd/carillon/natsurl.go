package main

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// serverURLs splits a list of servers. One without scheme is taken as the client takes it.
func serverURLs(list string) []string {
	parts := strings.Split(list, ",")
	for i, part := range parts {
		if part = strings.TrimSpace(part); !strings.Contains(part, "://") {
			part = "nats://" + part
		}
		parts[i] = part
	}
	return parts
}

// natsSchemes are the schemes of servers' URLs.
var natsSchemes = []string{"nats", "tls", "ws", "wss"}

// checkURLs makes sure that a list of servers can be meant. Parts of URLs may be passwords, and are not repeated.
func checkURLs(list string) error {
	for _, text := range serverURLs(list) {
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" {
			return terminal.Usagef("--nats-url: not an address such as nats://127.0.0.1:4222")
		}
		if !slices.Contains(natsSchemes, u.Scheme) {
			return terminal.Usagef("--nats-url: %s is no address of a NATS server; its scheme is one of %s",
				node.Anonymous(text), strings.Join(natsSchemes, ", "))
		}
		if _, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && err != nil {
			return terminal.Usagef("--nats-url: %s: %s is not a port", node.Anonymous(text), u.Port())
		}
	}
	return nil
}

// redacted leaves out of a list of URLs who connects: passwords and tokens.
func redacted(list string) string {
	parts := serverURLs(list)
	for i, part := range parts {
		parts[i] = node.Anonymous(part)
	}
	return strings.Join(parts, ",")
}
