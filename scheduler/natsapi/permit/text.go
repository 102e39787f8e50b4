package permit

import (
	"fmt"
	"strconv"
	"strings"
)

// Conf returns the permissions in the form of a NATS server's configuration, for the block of a user.
func (p Permissions) Conf() string {
	var b strings.Builder
	b.WriteString("permissions: {\n")
	list := func(name string, subjects []string) {
		fmt.Fprintf(&b, "  %s: [\n", name)
		for _, s := range subjects {
			fmt.Fprintf(&b, "    %s\n", strconv.Quote(s))
		}
		b.WriteString("  ]\n")
	}
	list("publish", p.Publish)
	list("subscribe", p.Subscribe)
	if p.Responses {
		b.WriteString("  allow_responses: { max: -1, expires: \"2m\" }\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// NSC returns the permissions as flags of `nsc add user` and `nsc edit user`, for servers whose users have JWTs.
func (p Permissions) NSC() string {
	flags := []string{
		"--allow-pub " + quoted(p.Publish), "--allow-sub " + quoted(p.Subscribe),
	}
	if p.Responses {
		flags = append(flags, "--allow-pub-response=-1")
	}
	return strings.Join(flags, " \\\n  ") + "\n"
}

// quoted returns a list as a shell argument.
func quoted(subjects []string) string { return "'" + strings.Join(subjects, ",") + "'" }
