package importer

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// setting is a line of a crontab that sets a variable (crontab(5)).
var setting = regexp.MustCompile(`^\s*["']?([A-Za-z_][A-Za-z0-9_]*)["']?\s*=\s*(.*?)\s*$`)

// nicknames are the words in place of five fields (crontab(5)).
var nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// crontab imports a crontab in the format of Debian's cron or cronie.
func crontab(r *reading, data []byte) error {
	if line := userColumn(data); line > 0 && !r.System {
		return fmt.Errorf("line %d names a user, as a system crontab does: import it with --system", line)
	}
	c := crontabFile{reading: r}
	for i, line := range strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") {
		entry := "line " + strconv.Itoa(i+1)
		text := strings.TrimLeft(line, " \t")
		switch m := setting.FindStringSubmatch(text); {
		case text == "" || text[0] == '#':
		case m != nil:
			c.set(entry, m[1], unquoted(m[2]))
		default:
			c.entry(entry, text)
		}
	}
	return nil
}

// entryOf takes an entry apart into its first word behind the schedule and what follows.
var entryOf = regexp.MustCompile(`^\s*(?:@[a-z]+|[-0-9*](?:\S*\s+){5})\s*([a-z_][a-z0-9_-]*)\s+\S`)

// users are the accounts that system crontabs name.
var users = []string{
	"root", "daemon", "bin", "nobody", "www-data", "apache", "nginx", "http", "postgres", "mysql", "redis", "backup", "mail",
	"list", "man", "news", "logcheck", "munin", "smmsp", "git", "jenkins", "debian-spamd", "amavis",
}

// userColumn returns the number of the first line that names a user where other crontabs have the command; 0 for none.
func userColumn(data []byte) int {
	for i, line := range strings.Split(string(data), "\n") {
		if m := entryOf.FindStringSubmatch(line); len(m) > 1 && slices.Contains(users, m[1]) {
			return i + 1
		}
	}
	return 0
}

// crontabFile is the state after the lines read so far.
type crontabFile struct {
	*reading

	named string // time zone
	delay int    // minutes
	env   fields
	size  int // of env in bytes
}

func unquoted(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// set takes a variable.
func (c *crontabFile) set(entry, name, value string) {
	switch name {
	case "CRON_TZ":
		c.named = value
		return
	case "MAILTO":
		c.notef(Dropped, entry, name, "cron mails the output of commands; the history has the responses of the runner")
		return
	case "RANDOM_DELAY":
		n, err := strconv.Atoi(value)
		if err != nil {
			c.notef(Dropped, entry, name, "%q is not a number of minutes", value)
		}
		c.delay = n
		return
	}
	for i, m := range c.env {
		if m.Name == name {
			c.env, c.size = append(c.env[:i:i], c.env[i+1:]...), c.size-len(name)-len(m.Value.Text())
			break
		}
	}
	if c.size += len(name) + len(value); c.size > scheduler.MaxJobSize {
		c.notef(Dropped, entry, name, "a job has no room for more than %d bytes of variables", scheduler.MaxJobSize)
		c.size -= len(name) + len(value)
		return
	}
	c.env = append(c.env, fieldsOf(name, value)...)
}

// fieldsOf is one member; unlike set it may be empty.
func fieldsOf(name, value string) fields {
	return fields{{Name: name, Value: document.StringValue(value)}}
}

// entry translates a line with a command.
func (c *crontabFile) entry(entry, line string) {
	if strings.HasPrefix(line, "-") {
		c.notef(Dropped, entry, "-", "Carillon writes nothing to the system log")
		line = line[1:]
	}
	n := 5
	if strings.HasPrefix(line, "@") {
		n = 1
	}
	if c.System {
		n++
	}
	words, command := cut(line, n)
	if command == "" {
		c.notef(Failed, entry, "", "it has fewer than %d fields and a command", n)
		return
	}
	user := ""
	if c.System {
		user, words = words[n-1], words[:n-1]
	}
	pattern, why := cronPattern(words)
	if why != "" {
		c.notef(Failed, entry, "schedule", "%s", why)
		return
	}
	command, input, hasInput := splitCommand(command)
	body := object("command", command)
	if hasInput {
		body = append(body, fieldsOf("stdin", input)...)
	}
	body.set("user", user)
	body.set("environment", c.env)
	action, ok := c.run(entry, "a command", map[string]string{"name": commandName(command)}, body)
	if !ok {
		return
	}
	job := object("description", entry+" of a crontab: "+line, "recurrence", object("cron", pattern),
		"timeZone", c.zone(entry, c.named, "the zone of the machine"))
	if c.delay > 0 {
		c.notef(Changed, entry, "RANDOM_DELAY", "each occurrence is delayed by a fixed share of %d minutes", c.delay)
		job.set("jitter", "PT"+strconv.Itoa(c.delay)+"M")
	}
	job.set("overlap", "allow")                  // cron does not wait for a command,
	job.set("catchUp", object("policy", "skip")) // does not catch up on missed runs,
	action.set("retryPolicy", noRetry)           // and does not try again
	job.set("action", action)
	c.add(entry, c.Collection, commandName(command), job)
}

// noRetry is the policy of sources that never retry.
var noRetry = retries("", "", 0, "")

// cut takes n words off a line.
func cut(line string, n int) (words []string, rest string) {
	rest = line
	for range n {
		rest = strings.TrimLeft(rest, " \t")
		end := strings.IndexAny(rest, " \t")
		if end < 0 {
			return words, ""
		}
		words, rest = append(words, rest[:end]), rest[end:]
	}
	return words, strings.TrimLeft(rest, " \t")
}

// cronPattern converts a crontab schedule to Obsidian's dialect, or returns the reason why it cannot.
func cronPattern(words []string) (pattern, why string) {
	if len(words) == 1 {
		pattern, ok := nicknames[strings.ToLower(words[0])]
		switch {
		case ok:
			return pattern, ""
		case strings.EqualFold(words[0], "@reboot"):
			return "", "@reboot: Carillon does not know when a machine starts; have the start run \"carillon run JOB\""
		}
		return "", words[0] + " is no nickname of crontab(5)"
	}
	for _, word := range words {
		switch {
		case strings.Contains(word, "~"):
			return "", word + ": a random time within a range; dsari's H, hashed from the job's name, says something like it"
		case barePace.MatchString(word):
			return "", word + ": cron programs differ about a step without a range"
		}
	}
	day, weekday := words[2], words[4]
	if stars := strings.HasPrefix(day, "*") || strings.HasPrefix(weekday, "*"); stars && day != "*" && weekday != "*" {
		return "", day + " and " + weekday + ": cron wants both the day of the month and the day of the week when one of " +
			"them begins with a star, which a pattern here cannot say; an RRULE with BYMONTHDAY and BYDAY can"
	}
	return strings.Join(words, " "), ""
}

// barePace is a step from a single number.
var barePace = regexp.MustCompile(`(^|,)[0-9A-Za-z]+/`)

// splitCommand splits a command at its first % (crontab(5)): what follows is its standard input, where every other % is
// a new line. \% is a %.
func splitCommand(text string) (command, input string, hasInput bool) {
	var parts []string
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == '%':
			b.WriteByte('%')
			i++
		case text[i] == '%':
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteByte(text[i])
		}
	}
	parts = append(parts, b.String())
	if len(parts) == 1 {
		return parts[0], "", false
	}
	if input = strings.Join(parts[1:], "\n"); input != "" && !strings.HasSuffix(input, "\n") {
		input += "\n"
	}
	return parts[0], input, true
}

// commandName returns the job name for a command: its program.
func commandName(command string) string {
	for word := range strings.FieldsSeq(command) {
		if !strings.Contains(word, "=") { // a variable before the program
			name := path.Base(word)
			return jobName(strings.TrimSuffix(name, path.Ext(name)))
		}
	}
	return "command"
}
