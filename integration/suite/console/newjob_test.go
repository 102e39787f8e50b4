package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/stage"
	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// TestNewJob makes a job by typing, and waits for its first attempt.
func TestNewJob(t *testing.T) {
	s := own(t)
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs/new"), page.Text("#schedule-outlook", "At 09:00 every day"))
	must(t, page.Fill("#f-name", "report"), page.Fill(`[name="action.request.uri"]`, s.HTTP+"/echo/report"))
	must(t, page.Click(`[name="schedule.when"][value="weekly"]`), page.Text("#schedule-outlook", "Fix 1 problem"))
	must(t, page.Text(".pane-weekly", "Choose at least one day"))
	must(t, page.Click(`[name="schedule.plain.days"][value="TUE"]`), page.Text("#schedule-outlook", "0 9 * * TUE"))
	must(t, page.Fill(`[name="schedule.plain.times"]`, "7:30, 6pm"), page.Text("#schedule-outlook", "30 7 * * TUE; 0 18 * * TUE"))
	must(t, page.Click(`[name="schedule.when"][value="every"]`), page.Fill(`[name="schedule.plain.n"]`, "2"))
	must(t, page.Await(`(() => { const e = document.getElementById('schedule.plain.unit'); e.value = 'second'; return e.dispatchEvent(new Event('input', {bubbles: true})) })()`))
	must(t, page.Text("#schedule-outlook", "every 2 seconds"))
	must(t, page.Click(`#newjob button[value="try"]`), page.Text("#edit-told", "Response of the target"), page.Text("#edit-told", "200"))
	must(t, page.Click(`#newjob button.main`))
	must(t, page.Await("location.pathname === '/console/jobs/default/report'"), page.Text("#note", "default/report is created"))
	completes(t, s, "report")
}

// completes waits until a job has run.
func completes(t *testing.T, s *stage.Stage, name string) {
	t.Helper()
	must(t, s.Await(t.Context(), func() bool {
		status, body, err := s.Call(t.Context(), http.MethodGet, "/jobCollections/default/jobs/"+name+"/history", nil)
		return err == nil && status == http.StatusOK && strings.Contains(string(body), `"Completed"`)
	}))
}

// TestPaste pastes what others have written: it is in the fields of its language, and told in English.
func TestPaste(t *testing.T) {
	page := open(t, needed(t).stage.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs/new"), page.Text("#schedule-outlook", "At 09:00"))
	must(t, page.Await(`(window.fetch = ((send) => (...what) => { window.asked++; return send(...what) })(window.fetch))`))
	for _, row := range []struct{ text, when, field, value, english string }{
		{"*/5 * * * * /usr/bin/true", "cron", "schedule.recurrence.cron", "*/5 * * * *", "Every 5 minutes"},
		{"RRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0;COUNT=2 DTSTART:20390101T000000Z", "rrule", "schedule.recurrence.rrule", "", ""},
		{"every 3 hours", "every", "schedule.plain.n", "3", "3 hours"},
		{"17:45", "daily", "schedule.plain.times", "17:45", "At 17:45"},
	} {
		must(t, page.Await("(window.asked = 0) === 0"), page.Fill(`[name="schedule.paste"]`, row.text), page.Press("\r"))
		must(t, page.Await(`document.querySelector('[name="schedule.when"]:checked').value === '`+row.when+`'`))
		if asked, err := tab.Eval[int](page, "window.asked"); err != nil || asked != 1 { // a later answer would move the focus again
			t.Errorf("%s: %d requests, want 1 (%v)", row.text, asked, err)
		}
		if row.english != "" {
			must(t, page.Text("#schedule-outlook", row.english))
		}
		got, err := tab.Eval[string](page, `document.getElementById('`+row.field+`').value`)
		if err != nil || row.value != "" && got != row.value {
			t.Errorf("%s: %q, want %q (%v)", row.text, got, row.value, err)
		}
	}
	const lines = `DTSTART;TZID=Europe/Berlin:20260101T090000\nRRULE:FREQ=DAILY\nEXRULE:FREQ=DAILY;BYDAY=SA,SU`
	must(t, page.Await(`(() => { const e = document.getElementById('schedule.paste'); e.focus(); e.select(); document.execCommand('insertText', false, '`+lines+`'); return e.dispatchEvent(new Event('change', {bubbles: true})) })()`))
	must(t, page.Text("#schedule-outlook", "except"), page.Await(`document.getElementById('schedule.recurrence.rrule').value === '`+lines+`'`))
	must(t, page.Fill(`[name="schedule.paste"]`, "what is this"), page.Press("\r"), page.Text(".paste", "is not in a known schedule language"))
}

// TestTryActions tries out each type of actions: the emulators and the server answer.
func TestTryActions(t *testing.T) {
	s := own(t)
	bus := func(member string) map[string]string {
		return map[string]string{member + ".namespace": "carillon-examples", member + ".authentication.sasKey~text": "a2V5", member + ".message": "hello"}
	}
	for _, test := range []struct {
		begin, kind string
		fields      map[string]string
		want        []string
	}{
		{"http", "Http", map[string]string{"action.request.uri": s.HTTP + "/echo/tried", "action.request.body": `{"n": 1}`}, []string{"200", "/echo/tried"}},
		{"servicebus", "ServiceBusQueue", merged(bus("action.serviceBusQueueMessage"), "action.serviceBusQueueMessage.queueName", "tried"), []string{"completed", "tried"}},
		{"servicebus", "ServiceBusTopic", merged(bus("action.serviceBusTopicMessage"), "action.serviceBusTopicMessage.topicPath", "tried-topic"), []string{"completed", "tried-topic"}},
		{"storagequeue", "StorageQueue", map[string]string{
			"action.queueMessage.storageAccount": "carillonexamples", "action.queueMessage.queueName": "tried",
			"action.queueMessage.sasToken~text": "?sv=2022-11-02&sig=c2ln", "action.queueMessage.message": "hello",
		}, []string{"201", "tried"}},
		{"nats", "NatsMessage", map[string]string{"action.natsMessage.subject": "tried.now", "action.natsMessage.message": "hello"}, []string{"completed", "tried.now"}},
	} {
		page := open(t, s.HTTP, tab.Look{})
		must(t, page.Go("/console/jobs/new?template="+test.begin), page.Text("#schedule-outlook", "At 09:00"))
		pick := `(() => { const e = document.querySelector('[name="action.type"]'); const o = [...e.options].find((o) => o.value.toLowerCase() === '` +
			strings.ToLower(test.kind) + `'); if (e.value === o.value) return true; e.value = o.value; return e.dispatchEvent(new Event('change', {bubbles: true})) })()`
		must(t, page.Await(pick))
		for name, text := range test.fields {
			if secret, ok := strings.CutSuffix(name, "~text"); ok {
				must(t, page.Await(`(() => { const e = document.querySelector('[name="`+secret+`~how"][value="text"]'); e?.click(); return e?.checked })()`))
			}
			must(t, page.Await(`document.querySelector('[name="`+name+`"]')`), page.Fill(`[name="`+name+`"]`, text))
		}
		if test.kind == "ServiceBusTopic" { // it began as a queue
			must(t, page.Fill(`[name="action.serviceBusTopicMessage.authentication.sasKeyName"]`, "RootManageSharedAccessKey"))
		}
		must(t, page.Click(`#newjob button[value="try"]`), page.Text("#edit-told", "Response of the target"))
		for _, want := range test.want {
			must(t, page.Text("#edit-told", want))
		}
	}
}

// merged is fields with one more.
func merged(fields map[string]string, name, text string) map[string]string {
	fields[name] = text
	return fields
}

// TestSecretStaysWhereItIsTyped makes a mistake after a secret was typed: the field still has it, and what the server has
// sent has not.
func TestSecretStaysWhereItIsTyped(t *testing.T) {
	s := own(t)
	page := open(t, s.HTTP, tab.Look{})
	const secret = "correct-horse-battery-staple"
	must(t, page.Go("/console/jobs/new?template=servicebus"), page.Await("document.getElementById('newjob')"))
	field := `[name="action.serviceBusQueueMessage.authentication.sasKey~text"]`
	must(t, page.Click(`[name="action.serviceBusQueueMessage.authentication.sasKey~how"][value="text"]`), page.Type(field, secret))
	must(t, page.Fill(`[name="action.serviceBusQueueMessage.namespace"]`, "carillon-examples"))
	must(t, page.Click("#newjob button.main"), page.Text("#wrong", "Fix "))
	if got, err := tab.Eval[string](page, "document.querySelector('"+strings.ReplaceAll(field, "'", "")+"').value"); err != nil || got != secret {
		t.Errorf("the field has %q (%v)", got, err)
	}
	if got, err := tab.Eval[string](page, "document.documentElement.outerHTML"); err != nil || strings.Contains(got, secret) {
		t.Errorf("the page has the secret (%v)", err)
	}
	must(t, page.Fill("#f-name", "order"), page.Fill(`[name="action.serviceBusQueueMessage.queueName"]`, "orders"))
	must(t, page.Click(`[name="schedule.when"][value="once"]`), page.Click("#newjob button.main"))
	must(t, page.Await("location.pathname === '/console/jobs/default/order'"))
	completes(t, s, "order")
}

// TestNewJobLost makes a job while nobody is known any more, and while the scheduler is gone: what was typed stays.
func TestNewJobLost(t *testing.T) {
	s := own(t)
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs/new"), page.Text("#schedule-outlook", "At 09:00"), page.Fill("#f-name", "lost"))
	must(t, page.Fill(`[name="action.request.uri"]`, s.HTTP+"/echo"))
	made(t, s, nil, "admin")
	page.Expect(401)
	must(t, page.Click("#newjob button.main"), page.Text("#edit-told", "You are signed out"))
	_ = s.Stop()
	page.Expect(0)
	must(t, page.Click("#newjob button.main"), page.Text("#edit-told", "Connection lost"))
	must(t, page.Await(`document.getElementById('f-name').value === 'lost' && document.activeElement.closest('#edit-told')`))
	_ = page.Wrong() // the connection is refused, as it is to be here
}

// TestNewJobByKeys makes a job with keys alone.
func TestNewJobByKeys(t *testing.T) {
	s := own(t)
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs/new?template=nats"), page.Text("#schedule-outlook", "At 09:00 every day"))
	tabTo := func(name string) {
		t.Helper()
		for range 80 {
			must(t, page.Press("\t"))
			if got, err := tab.Eval[string](page, "document.activeElement.name || document.activeElement.value || ''"); err != nil || got == name {
				must(t, err)
				return
			}
		}
		t.Fatalf("no way leads to %s", name)
	}
	tabTo("name")
	must(t, page.Type(":focus", "lights"))
	tabTo("schedule.when")
	must(t, page.Press("\u0301")) // down: a group of radio buttons is one stop
	must(t, page.Text("#schedule-outlook", "MON-FRI"))
	must(t, page.Await(`(document.querySelector('[name="action.natsMessage.subject"]').focus(), true)`), page.Type(":focus", "lights.all"))
	for range 80 {
		must(t, page.Press("\t"))
		if save, err := tab.Eval[bool](page, "document.activeElement.matches('#newjob button.main')"); err != nil || save {
			must(t, err)
			break
		}
	}
	must(t, page.Press("\r"), page.Await("location.pathname === '/console/jobs/default/lights'"))
}

// TestNewJobWithoutScripts makes a job in a browser that runs no scripts, with a mistake on the way.
func TestNewJobWithoutScripts(t *testing.T) {
	s := own(t)
	page := open(t, s.HTTP, tab.Look{NoScripts: true})
	page.Expect(http.StatusUnprocessableEntity)
	must(t, page.Go("/console/jobs/new"), page.Type(`[name="action.request.uri"]`, s.HTTP+"/echo"))
	must(t, page.Click(`[name="schedule.when"][value="weekdays"]`), page.Click("#newjob button.main"))
	must(t, page.Text("#wrong", "must not be empty"), page.Text("#schedule-outlook", "MON-FRI"))
	must(t, page.Type("#f-name", "plain"), page.Click("#newjob button.main"))
	must(t, page.Await("location.pathname === '/console/jobs/default/plain'"))
}

// TestNewJobAccessible has axe look at the fields of every choice of a schedule, and at mistakes.
func TestNewJobAccessible(t *testing.T) {
	withAxe(t)
	c := needed(t)
	page := open(t, c.stage.HTTP, tab.Looks[2])
	must(t, page.Go("/console/jobs/new"), page.Text("#schedule-outlook", "At 09:00"), page.Click(".more > summary"))
	must(t, page.Fill(`[name="schedule.jitter"]`, "long"), page.Click("#newjob button.main"), page.Text("#wrong", "Fix "))
	accessible(t, page, "mistakes")
	for _, when := range []string{"every", "weekdays", "weekly", "monthly", "yearly", "once", "asked", "cron", "rrule", "azure"} {
		must(t, page.Click(`[name="schedule.when"][value="`+when+`"]`), page.Await("!document.querySelector('#schedule-outlook').ariaBusy"))
		_, err := tab.Eval[bool](page, "document.querySelectorAll('.help').forEach((e) => { e.open = true }); true")
		must(t, err)
		const part = "document.querySelector('#schedule-builder')"
		lookAt(t, page, part, when, false, allRules)
		lookAt(t, page, part, when, true, colourRules)
	}
}

// TestPastedJob pastes a job of Azure Scheduler where schedules are: the form has all of it then, whatever was typed before.
func TestPastedJob(t *testing.T) {
	s := own(t)
	page := open(t, s.HTTP, tab.Look{})
	const job = `{"name": "old/nightly", "properties": {"startTime": "2039-12-01T09:00:00Z", "state": "Enabled",
		"action": {"type": "Http", "request": {"method": "PUT", "uri": "http://127.0.0.1:9/night", "body": "dark"}},
		"recurrence": {"frequency": "Week", "schedule": {"weekDays": ["Monday"], "hours": [9]}}}}`
	must(t, page.Go("/console/jobs/new"), page.Fill(`[id="f-action.request.uri"]`, "http://127.0.0.1:9/before"))
	pasting := fmt.Sprintf(`(() => {
		const field = document.getElementById('schedule.paste');
		field.focus();
		return document.execCommand('insertText', false, %q) && !!field.dispatchEvent(new Event('change', {bubbles: true}));
	})()`, job)
	if ok, err := tab.Eval[bool](page, pasting); err != nil || !ok {
		t.Fatal(ok, err)
	}
	must(t, page.Await("document.activeElement.id === 'newjob-pasted'"), page.Text("#schedule-outlook", "every Monday"),
		page.Await("document.getElementById('f-action.request.uri').value.endsWith('/night')"), page.Click("button[value=save]"),
		page.Await("location.pathname === '/console/jobs/default/nightly'"), page.Text("main", "PUT"))
}
