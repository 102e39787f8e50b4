package listen

import (
	"context"
	"net"
	"net/netip"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

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
	names := make([]string, len(flags))
	for i, f := range flags {
		names[i] = "--" + f.Name + " " + f.Addr
	}
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
		"write 127.0.0.1:PORT; where everybody who reaches this machine may do everything, add --insecure-listen")
}
