package listen

import (
	"context"
	"net"
	"net/netip"
	"regexp"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// Hosts returns which names an HTTP server that listens on addr answers to; nil for any. names are those of --allowed-host.
//
// A page of the web may have a name that leads to this machine as soon as the page is there (DNS rebinding), and may then do
// and read what the browser's user may. Its requests have that name as their Host. So what listens on a loopback address
// answers to the names of such addresses and to those that were given, and to nothing else. What listens for other machines
// goes by many names: there, those that were given count, if any were, and addresses, which no page can pretend to have.
func Hosts(ctx context.Context, addr string, names []string) func(host string) bool {
	local := isLoopback(ctx, addr)
	if !local && len(names) == 0 {
		return nil
	}
	own, _, _ := net.SplitHostPort(addr)
	names = append([]string{"localhost", "*.localhost", own}, names...)
	return func(host string) bool {
		name := hostOf(host)
		if ip, err := netip.ParseAddr(name); err == nil {
			return !local || ip.Unmap().WithZone("").IsLoopback() || matchesAny(names, name)
		}
		return name == "" || matchesAny(names, name) // no browser leaves it out
	}
}

// hostOf returns the name, or the address, of a Host header in lower case, without port, brackets and the dot at the end.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

func matchesAny(names []string, name string) bool {
	for _, pattern := range names {
		pattern = strings.ToLower(strings.TrimSuffix(pattern, "."))
		suffix, wildcard := strings.CutPrefix(pattern, "*")
		if pattern != "" && pattern == name || wildcard && strings.HasSuffix(name, suffix) && name != suffix[1:] && name[0] != '.' {
			return true
		}
	}
	return false
}

// hostName is what --allowed-host takes: a name or an address, or *. and the end of names.
var hostName = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$`)

// CheckHosts makes sure that the values of --allowed-host are names.
func CheckHosts(names []string) error {
	for _, name := range names {
		if _, err := netip.ParseAddr(name); err != nil && !hostName.MatchString(name) {
			return terminal.Hinted(terminal.Usagef("--allowed-host: %q is not the name of a host", name),
				"write carillon.example.com or *.example.com, without scheme and port")
		}
	}
	return nil
}
