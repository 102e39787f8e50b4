package importer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// eventBridge imports rules and schedules of Amazon EventBridge: the output of aws events list-rules, aws scheduler
// get-schedule and aws events describe-api-destination. A rule may have a field Targets, as printed by
// list-targets-by-rule.
func eventBridge(r *reading, data []byte) error {
	all, err := r.documents(data, "Rules", "Schedules", "ApiDestinations")
	if err != nil {
		return err
	}
	e := &eventBridgeFile{r, map[string]document.Value{}}
	for _, v := range all {
		if arn, ok := v.Member("ApiDestinationArn"); ok {
			e.destinations[arn.Text()] = v
		}
	}
	for _, v := range all {
		if _, ok := v.Member("ApiDestinationArn"); !ok {
			e.entry(&tree{v: v})
		}
	}
	return nil
}

type eventBridgeFile struct {
	*reading

	destinations map[string]document.Value // by ARN
}

// known explains the fields that only AWS needs.
var known = map[string]string{
	"Arn": "is an identifier of AWS", "CreationDate": "is a status of AWS", "LastModificationDate": "is a status of AWS",
	"EventBusName": "a schedule needs no bus", "CreatedBy": "is a status of AWS", "ManagedBy": "is a status of AWS",
	"RoleArn": "the runner has its own role", "Target.RoleArn": "the runner has its own role",
	"KmsKeyArn": "secrets are sealed with the scheduler's key",
}

// entry translates a rule, once for each of its targets, or a schedule.
func (e *eventBridgeFile) entry(t *tree) {
	name := t.text("Name")
	entry := cmp.Or(name, "an entry without a name")
	expression := t.text("ScheduleExpression")
	if expression == "" {
		e.notef(Failed, entry, "ScheduleExpression", "missing: the entry runs on events, or is not a rule or schedule")
		return
	}
	job := object("description", t.text("Description"))
	if !e.times(entry, expression, t, &job) {
		return
	}
	switch state := strings.ToUpper(t.text("State")); state {
	case "", "ENABLED":
	case "DISABLED":
		job.set("state", "disabled")
	default:
		e.notef(Changed, entry, "State", "%s: it is enabled", state)
	}
	e.flexible(entry, t, &job)
	job.set("overlap", "allow") // EventBridge calls a target even if its last call is still running
	group := t.text("GroupName")
	if group != "" && !strings.Contains(e.Runner, "{namespace}") {
		e.notef(Dropped, entry, "GroupName", "%s: use {namespace} in --target-uri, or one --collection for all jobs", group)
	}
	targets := []document.Value{}
	if one, ok := t.take("Target"); ok {
		targets = append(targets, one)
	}
	if list, ok := t.take("Targets"); ok {
		targets = append(targets, list.Items()...)
	}
	if len(targets) == 0 {
		e.notef(Failed, entry, "Targets", "missing: add the Targets that list-targets-by-rule prints to the rule")
		return
	}
	e.dropRest(entry, t, known)
	for _, target := range targets {
		members := slices.Clone(job)
		action, ok := e.target(entry, name, group, &tree{v: target})
		if !ok {
			continue
		}
		members.set("action", action)
		e.add(entry, e.Collection, name, members)
	}
}

// target translates the target of a rule or schedule.
func (e *eventBridgeFile) target(entry, name, group string, t *tree) (fields, bool) {
	arn, input := t.text("Arn"), t.text("Input")
	destination, ok := e.destinations[arn]
	action := fields{}
	if ok {
		action = e.request(entry, &tree{v: destination}, input)
	} else {
		places := map[string]string{"name": name, "namespace": group, "id": t.text("Id")}
		if action, ok = e.run(entry, "a target "+arn, places, object("arn", arn, "input", input)); !ok {
			return nil, false
		}
	}
	attempts, given := t.number("RetryPolicy.MaximumRetryAttempts")
	if !given {
		attempts = 185 // the default of EventBridge, within 24 hours
	}
	most := min(attempts, mostRetries)
	if most != 0 {
		e.notef(Changed, entry, "RetryPolicy.MaximumRetryAttempts",
			"%d attempts, at times chosen by AWS: becomes up to %d, after 30 s, a minute and so on up to an hour", attempts, most)
	}
	action.set("retryPolicy", retries("exponential", "PT30S", most, "PT1H"))
	t.take("Id")
	e.dropRest(entry, t, map[string]string{
		"DeadLetterConfig": "use action.errorAction to report failed occurrences",
		"RoleArn":          "the runner has its own role",
		"RetryPolicy":      "retries are limited by number, not by age",
	})
	return action, true
}

// mostRetries is the number of retries that replaces a day of attempts by AWS: at these intervals, they take about as long.
const mostRetries = 20

// request translates an API destination.
func (e *eventBridgeFile) request(entry string, t *tree, input string) fields {
	request := object("method", cmp.Or(t.text("HttpMethod"), "POST"), "uri", t.text("InvocationEndpoint"), "body", input)
	t.take("ApiDestinationArn")
	t.take("Name")
	e.dropRest(entry, t, map[string]string{
		"ConnectionArn": "does not contain the credentials: set action.request.authentication",
	})
	return object("type", "http", "request", request)
}

var (
	rate = regexp.MustCompile(`^rate\(\s*(\d+)\s+(minute|hour|day)s?\s*\)$`)
	cron = regexp.MustCompile(`^cron\(\s*(.*?)\s*\)$`)
	once = regexp.MustCompile(`^at\(\s*(\S+?)\s*\)$`)
)

// times translates the schedule expression.
func (e *eventBridgeFile) times(entry, expression string, t *tree, job *fields) bool {
	zone, start, end := t.text("ScheduleExpressionTimezone"), t.text("StartDate"), t.text("EndDate")
	recurrence := fields{}
	failed := func(format string, args ...any) bool {
		e.notef(Failed, entry, "ScheduleExpression", "%s: %s", expression, fmt.Sprintf(format, args...))
		return false
	}
	switch {
	case rate.MatchString(expression):
		m := rate.FindStringSubmatch(expression)
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return failed("%s is too much", m[1])
		}
		if start == "" {
			e.notef(Changed, entry, "ScheduleExpression",
				"%s counts from the creation of the job, not of the rule", expression)
		}
		recurrence.set("frequency", m[2])
		recurrence.set("interval", n)
	case cron.MatchString(expression):
		pattern, why := awsCron(strings.Fields(cron.FindStringSubmatch(expression)[1]))
		if why != "" {
			return failed("%s", why)
		}
		recurrence.set("cron", pattern)
		if zone != "" && zone != "UTC" {
			job.set("timeZone", zone)
			job.set("dst", object("gap", "skip", "overlap", "first")) // EventBridge Scheduler User Guide, "Daylight savings time"
		}
	case once.MatchString(expression):
		location, err := time.LoadLocation(cmp.Or(zone, "UTC"))
		if err != nil {
			return failed("unknown time zone %s", zone)
		}
		at, err := time.ParseInLocation("2006-01-02T15:04:05", once.FindStringSubmatch(expression)[1], location)
		if err != nil {
			return failed("not a date and time")
		}
		if after := t.text("ActionAfterCompletion"); after == "DELETE" {
			e.notef(Dropped, entry, "ActionAfterCompletion", "completed jobs are kept for a while")
		}
		job.set("startTime", at.Format(time.RFC3339))
		return true
	default:
		return failed("not one of cron(…), rate(…) and at(…)")
	}
	job.set("startTime", start)
	recurrence.set("endTime", end)
	job.set("recurrence", recurrence)
	return true
}

// flexible translates the window within which a schedule may run.
func (e *eventBridgeFile) flexible(entry string, t *tree, job *fields) {
	mode := t.text("FlexibleTimeWindow.Mode")
	minutes, ok := t.number("FlexibleTimeWindow.MaximumWindowInMinutes")
	if !strings.EqualFold(mode, "FLEXIBLE") || !ok {
		return
	}
	e.notef(Changed, entry, "FlexibleTimeWindow", "each occurrence is delayed by a fixed share of %d minutes", minutes)
	job.set("jitter", fmt.Sprintf("PT%dM", minutes))
}

// weekdayNumber is a number in AWS' day of the week, 1 for Sunday to 7 for Saturday; not what follows a # or a step.
var weekdayNumber = regexp.MustCompile(`(^|[,-])[1-7]`)

// awsCron converts a pattern of EventBridge to Obsidian's dialect, or returns the reason why it cannot.
func awsCron(words []string) (pattern, why string) {
	if len(words) != 6 {
		return "", fmt.Sprintf("it has %d fields, not six", len(words))
	}
	weekday := words[4]
	if strings.EqualFold(weekday, "L") {
		weekday = "7"
	}
	words[4] = weekdayNumber.ReplaceAllStringFunc(weekday, func(s string) string {
		return s[:len(s)-1] + string(s[len(s)-1]-1)
	})
	for i, word := range words {
		if word == "?" {
			words[i] = "*"
		}
	}
	if words[5] == "*" {
		words = words[:5] // every year
	}
	return strings.Join(words, " "), ""
}
