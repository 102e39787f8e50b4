package storagequeue

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
)

const (
	defaultTimeToLive = 7 * 24 * time.Hour // the service's
	maxDelay          = 7 * 24 * time.Hour // the service's
	maxTimeToLive     = math.MaxInt32 * time.Second
	neverExpires      = -1 // as the service's number of seconds
)

func (a *action) readTarget(o *document.Object) {
	o.Require("storageAccount")
	if text, ok := o.String("storageAccount"); ok {
		var err error
		a.account, err = findAccount(text, a.client.endpoints)
		_, setting := errors.AsType[settingError](err)
		if err != nil && (!setting || !o.Reader().Stored) { // a stored job stays readable, and fails at its attempts
			o.Problem("storageAccount", "%v", err)
		}
	}
	o.Require("queueName")
	if name, ok := o.String("queueName"); ok {
		a.queue = name
		if err := source.CheckQueue(name); err != nil {
			o.Problem("queueName", "%v", err)
		}
	}
}

// readToken reads sasToken. It refuses an expired token only when a job sets it. A stored job whose token
// expires later can still be read and patched.
func (a *action) readToken(o *document.Object) {
	o.Require("sasToken")
	v, _ := o.Value("sasToken")
	kept := v.HasSecrets() // it was put before, and a patch leaves it alone
	secret, ok := o.Secret("sasToken")
	if !ok {
		return
	}
	a.token = secret
	text, literal := secret.Literal()
	if !literal || o.Reader().Stored {
		return
	}
	t, err := parseToken(text, mayAdd)
	if err == nil && !kept {
		err = t.expired(time.Now())
	}
	if err != nil {
		o.Problem("sasToken", "%v", err)
	}
}

func (a *action) readContent(action, o *document.Object) {
	a.content = payload.Read(action, o, payload.Rules{
		Member:    "message",
		Envelopes: []payload.Envelope{payload.CloudEvents, payload.AzureScheduler},
		Region:    a.client.region,
	})
	o.Require("message")
	a.encoding = encodeNone
	if a.content.Envelope() == payload.AzureScheduler {
		a.encoding = encodeBase64
	}
	if word, ok := o.Enum("messageEncoding", encodeNone, encodeBase64); ok {
		a.encoding = word
	}
	if a.content.Templated() || a.content.Envelope() != payload.None {
		return // only the attempt knows the text
	}
	if _, bad := encode(a.content.Text(), a.encoding); bad != nil {
		o.Problem("message", "%s", bad.Reason)
	}
}

func (a *action) readTimes(o *document.Object) {
	a.options.TimeToLive = readTimeToLive(o)
	delay, ok := wholeSeconds(o, "visibilityDelay", 0, maxDelay)
	if !ok {
		return
	}
	a.options.VisibilityTimeout = &delay
	limit := int32(defaultTimeToLive / time.Second)
	if life := a.options.TimeToLive; life != nil {
		limit = *life
	}
	if limit != neverExpires && delay >= limit {
		o.Problem("visibilityDelay", "must be shorter than timeToLive, which is %s: the message would never be seen",
			document.Duration{Exact: time.Duration(limit) * time.Second})
	}
}

// readTimeToLive reads the member timeToLive as the service's number of seconds; nil is the service's default.
func readTimeToLive(o *document.Object) *int32 {
	if o.Describes() {
		_, _ = o.Duration("timeToLive")
		o.Enum("timeToLive", "never")
	}
	v, ok := o.Value("timeToLive")
	switch {
	case !ok:
		return nil
	case v.Kind() == document.KindNumber && v.Text() == "-1":
		return new(int32(neverExpires))
	case v.Kind() != document.KindString:
		o.Problem("timeToLive", "must be a duration such as PT1H, or never")
		return nil
	case strings.EqualFold(v.Text(), "never"):
		o.Enum("timeToLive", "never") // takes that spelling
		return new(int32(neverExpires))
	}
	seconds, ok := wholeSeconds(o, "timeToLive", time.Second, maxTimeToLive)
	if !ok {
		return nil
	}
	return &seconds
}

// wholeSeconds reads a member that is a whole number of seconds from least to most.
func wholeSeconds(o *document.Object, name string, least, most time.Duration) (int32, bool) {
	d, ok := o.Duration(name)
	if !ok {
		return 0, false
	}
	length := d.Approx()
	switch {
	case length < least || length > most:
		o.Problem(name, "%s is not between %s and %s", d, document.Duration{Exact: least}, document.Duration{Exact: most})
	case length%time.Second != 0:
		o.Problem(name, "%s is not a whole number of seconds", d)
	default:
		return int32(length / time.Second), true
	}
	return 0, false
}

// maxText is the length of the longest message in bytes of UTF-8, after its encoding (Azure Storage REST API, Put Message).
const maxText = 64 << 10

// The encodings of a message.
const (
	encodeNone   = "none"
	encodeBase64 = "base64"
)

// encode returns the encoded text of the message, or the reason why the queue cannot hold it, with the status that
// the service would return.
func encode(text, encoding string) (string, *actions.Failure) {
	if encoding == encodeBase64 {
		if n := base64.StdEncoding.EncodedLen(len(text)); n > maxText {
			return "", tooLong(n, " in base64")
		}
		return base64.StdEncoding.EncodeToString([]byte(text)), nil
	}
	if len(text) > maxText {
		return "", tooLong(len(text), "")
	}
	for i, r := range text {
		switch _, size := utf8.DecodeRuneInString(text[i:]); {
		case r == utf8.RuneError && size == 1:
			return "", unsendable(http.StatusBadRequest, "is not UTF-8 from byte %d on: use messageEncoding base64", i)
		case !payload.InXML(r):
			return "", unsendable(http.StatusBadRequest, "has the character %U at byte %d, "+
				"which XML cannot carry: use messageEncoding base64", r, i)
		}
	}
	return text, nil
}

func tooLong(n int, how string) *actions.Failure {
	return unsendable(http.StatusRequestEntityTooLarge, "is %d bytes long%s, at most %d are allowed", n, how, maxText)
}

func unsendable(status int, format string, args ...any) *actions.Failure {
	return &actions.Failure{Reason: fmt.Sprintf(format, args...), Status: status, Final: true, SkipCircuit: true}
}
