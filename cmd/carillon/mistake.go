package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/secrets"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// usage adds to an error of the parser where to look.
func usage(err error) error {
	hint := `run "carillon --help"`
	if p, ok := errors.AsType[*kong.ParseError](err); ok {
		n := p.Context.Selected()
		if n != nil {
			hint = `run "` + commandPath(n) + ` --help"`
			err = secrets.Unshown(n, err)
		} else {
			n = p.Context.Model.Node
		}
		err = plainer(n, err)
	}
	return terminal.Hinted(terminal.Usage(err), hint)
}

// commandPath is a command as it is typed, without its aliases.
func commandPath(n *kong.Node) string {
	if n.Parent == nil {
		return n.Name
	}
	return commandPath(n.Parent) + " " + n.Name
}

// How the parser says that a flag has a value that is not among its words, of which an empty one stands for the flag that
// is not given, and that there is no such flag or command.
var (
	oneOf       = regexp.MustCompile(`^(--[a-z-]+|\[?<[a-z]+>\]?) must be one of (".*") but got (".*")$`)
	missing     = regexp.MustCompile(`^expected "(<.*>)"$`)
	noValue     = regexp.MustCompile(`^(--[a-z-]+): expected .* but got "EOL"`)
	unknownFlag = regexp.MustCompile(`^unknown flag (-[^,]*)`)
	number      = regexp.MustCompile(`^"?\d+"?$`)
	unexpected  = regexp.MustCompile(`^unexpected argument (.*?)(?:, did you mean .*)?$`)
)

// plainer returns an error of the parser about a command in the words of all other errors.
func plainer(n *kong.Node, err error) error {
	text := err.Error()
	if m := oneOf.FindStringSubmatch(text); m != nil {
		words := strings.Split(strings.TrimPrefix(strings.TrimSuffix(m[2], `,""`), `"",`), ",")
		name, all := strings.Trim(m[1], "[<>]"), strings.ReplaceAll(strings.Join(words, ", "), `"`, "")
		return fmt.Errorf("%s: %s is not one of %s", name, m[3], all)
	}
	if m := missing.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s: is missing", m[1])
	}
	if m := noValue.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s: has no value", m[1])
	}
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		return unknownFlagError(n, m[1])
	}
	if m := unexpected.FindStringSubmatch(text); m != nil {
		if len(n.Children) > 0 {
			return unknownCommandError(n, m[1])
		}
		if n.Name == "history" && number.MatchString(m[1]) {
			return fmt.Errorf("unexpected argument %q; -n %[1]s shows the last %[1]s records, and --last the last attempt whole", m[1])
		}
		return fmt.Errorf("unexpected argument %q", m[1])
	}
	return err
}

// unknownFlagError names the flag that was probably meant.
func unknownFlagError(n *kong.Node, flag string) error {
	name, long := strings.CutPrefix(flag, "--")
	var names []string
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			names = append(names, f.Name)
		}
	}
	if near := document.Nearest(name, names); long && near != "" {
		return fmt.Errorf("unknown flag %s; did you mean --%s?", flag, near)
	}
	return fmt.Errorf("unknown flag %s", flag)
}

// other are the commands of other programs that do what one of this program's does.
var other = map[string]string{
	"jobs": "get", "job": "get", "list": "get", "show": "get", "status": "get", "log": "logs", "add": "apply", "create": "apply",
	"put": "apply", "trigger": "run", "start": "enable", "resume": "enable", "pause": "disable", "stop": "disable",
	"remove": "delete", "check": "validate", "lint": "validate", "diff": "apply --dry-run", "retry": "resubmit",
}

// unknownCommandError names the command that was probably meant.
func unknownCommandError(n *kong.Node, command string) error {
	if meant, ok := other[command]; ok && n.Parent == nil {
		return fmt.Errorf("unknown command %q; did you mean %q?", command, meant)
	}
	var names []string
	for _, child := range n.Children {
		if !child.Hidden {
			names = append(append(names, child.Name), child.Aliases...)
		}
	}
	if near := document.Nearest(command, names); near != "" {
		return fmt.Errorf("unknown command %q; did you mean %q?", command, near)
	}
	return fmt.Errorf("unknown command %q", command)
}
