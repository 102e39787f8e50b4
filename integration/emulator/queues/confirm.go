package queues

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// confirmation asks before something is done.
type confirmation struct {
	Steps              [][2]string // back to where it is
	Text, Hint, Button string
	Danger             bool  // something is gone afterwards
	Count              int64 // of what something is done to; 0: there is nothing to do
	Action             string
	Fields             [][2]string
	Back               string
	Topic              string   // a choice of where dead letters go
	Into               []string // a choice of queues to move messages into
	To                 string   // the one that is chosen beforehand
}

// many is the text of a key for a number of things: what stands before | for one, and what stands behind it, with the number, for
// others.
func many[N int | int64](c *frame.Call, key string, n N, args ...any) string {
	one, more, _ := strings.Cut(c.Say(key), "|")
	if n == 1 {
		return fmt.Sprintf(one, args...)
	}
	return fmt.Sprintf(more, append([]any{frame.Number(n)}, args...)...)
}

// picked are the messages that were marked; none for all.
func picked(c *frame.Call, texts []string) ([]int64, error) {
	var all []int64
	for _, text := range texts {
		n, err := number(c, text)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// noneMarked refuses to do something to messages that were to be marked, and were not.
func noneMarked(c *frame.Call) error {
	return frame.Problem{Status: http.StatusBadRequest, Text: c.Say("queues.marked.none"), Hint: c.Say("queues.marked.none.hint")}
}

// confirm asks before something is done with all messages of a part, or with those that were marked.
func (r *room) confirm(c *frame.Call, verb string) error {
	e, err := r.entityOf(c)
	if err != nil {
		return err
	}
	marked, err := picked(c, c.Request.URL.Query()["n"])
	if err != nil {
		return err
	}
	part := partOf(c.Query("part"))
	v := confirmation{
		Hint: c.Say("queues." + verb + ".hint"), Action: Path + "/" + verb, Danger: verb == verbPurge, Count: countOf(e, part),
		Fields: [][2]string{{"at", e.Path}, {"part", string(part)}, {"all", "1"}},
		Steps:  crumbs(e), Back: address("/entity", "at", e.Path, "part", string(part)),
	}
	key, title := "queues."+verb+"."+string(part), "queues."+verb+".title.running"
	switch {
	case len(marked) > 0:
		v.Count, key, title = int64(len(marked)), "queues."+verb+".marked", cmp.Or(markedTitles[verb], title)
	case c.Query("marked") != "":
		return noneMarked(c)
	case verb == verbResubmit:
		key = "queues.resubmit.all"
	}
	for _, n := range marked {
		v.Fields = append(v.Fields, [2]string{"n", strconv.FormatInt(n, 10)})
	}
	v.Button = many(c, "queues."+verb+".button", v.Count)
	if verb == verbResubmit {
		v.Topic = e.Topic
	}
	if v.Text = many(c, key, v.Count, e.Path); v.Count == 0 {
		v.Text = c.Say("queues."+verb+".none", e.Path, c.Say("queues.part."+string(part)))
	}
	return c.Show(&frame.Page{Title: c.Say(title, titled(e.Path)), Template: confirmPage, Data: v, Styles: styles})
}

// markedTitles are the titles of what is done to some messages only, where another one is for all.
var markedTitles = map[string]string{verbPurge: "queues.letters.delete.title"}

func (r *room) confirmPurge(c *frame.Call) error { return r.confirm(c, verbPurge) }

// countOf is how many messages a part has.
func countOf(e browse.Entity, part browse.Part) int64 {
	for _, t := range tabs(e, part) {
		if t.Part == part {
			return t.Count
		}
	}
	return 0
}
