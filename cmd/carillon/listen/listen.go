package listen

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// HTTP listens for HTTP on the address of the flag --http. A ports file of the process before is removed first.
func HTTP(ctx context.Context, addr, portsFile string) (net.Listener, error) {
	if err := RemovePorts(portsFile); err != nil {
		return nil, err
	}
	return open(ctx, "HTTP", "http", addr)
}

// open listens on the address of a flag.
func open(ctx context.Context, kind, flag, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err == nil {
		return l, nil
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return nil, Error(kind, flag, addr, err)
}

// Error says that the address of a flag cannot be listened on, and what to do about it.
func Error(kind, flag, addr string, err error) error {
	return terminal.Hinted(terminal.Unavailablef("%s address %s: %w", kind, addr, err),
		"another program uses that port, perhaps a second carillon; choose one with --"+flag+", port 0 takes any free one")
}

// CheckAddress makes sure that the value of a flag is host:port.
func CheckAddress(flag, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return terminal.Usagef("--%s: %q is not an address such as 127.0.0.1:8080", flag, addr)
	}
	return nil
}

// Reachable returns the address at which this machine reaches a listener.
func Reachable(addr string) string {
	a, err := netip.ParseAddrPort(addr)
	if err != nil || !a.Addr().IsUnspecified() {
		return addr
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(a.Port())))
}

// Flag is a flag that says where something listens.
type Flag struct{ Name, Addr string }

// Check makes sure that the values of flags are host:port.
func Check(flags ...Flag) error {
	for _, f := range flags {
		if err := CheckAddress(f.Name, f.Addr); err != nil {
			return err
		}
	}
	return nil
}

// Exposed returns those flags whose addresses other machines may reach.
func Exposed(ctx context.Context, flags ...Flag) []Flag {
	var exposed []Flag
	for _, f := range flags {
		if !isLoopback(ctx, f.Addr) {
			exposed = append(exposed, f)
		}
	}
	return exposed
}

// isLoopback reports whether only this machine reaches host:port. A host that is not known is taken for the worst.
func isLoopback(ctx context.Context, addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for _, ip := range found {
		if !ip.Unmap().IsLoopback() {
			return false
		}
	}
	return err == nil && len(found) > 0
}

// Names lists flags as people write them: --http and --nats.
func Names(flags []Flag) string {
	names := terminal.All(flags, func(f Flag) string { return "--" + f.Name + " " + f.Addr })
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// RefuseExposed refuses addresses that other machines may reach.
func RefuseExposed(ctx context.Context, flags ...Flag) error {
	exposed := Exposed(ctx, flags...)
	if len(exposed) == 0 {
		return nil
	}
	return terminal.Hinted(terminal.Usagef("%s: not a loopback address, and nothing here asks for a password", Names(exposed)),
		"write 127.0.0.1:PORT; if every client that reaches this machine may do everything, add --insecure-listen")
}

// Hosts returns a filter of the host names that an HTTP server on addr accepts; nil accepts any. names are those
// of --allowed-host.
//
// A web page can change its name's address to this machine after it has loaded (DNS rebinding), and would then
// have the access of the browser's user. Its requests still have that name as their Host. So a server on a
// loopback address accepts only names of loopback addresses, and names. A server for other machines can have
// many names: if names are given, it accepts only them and IP addresses, which a page cannot fake.
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
