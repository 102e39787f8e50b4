package conn

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Permissions are the publish permissions of the NATS user (from $SYS.REQ.USER.INFO).
type Permissions struct {
	Allow []string `json:"allow"`
	Deny  []string `json:"deny"`

	Replies bool `json:"-"` // to received messages, in addition
}

// userInfoTimeout is the timeout for the permissions. A user without permission to ask gets no answer.
const userInfoTimeout = time.Second

// Permissions asks the server for the publish permissions of this user.
func (s *Conn) Permissions(ctx context.Context) (Permissions, bool) {
	ctx, cancel := context.WithTimeout(ctx, userInfoTimeout)
	defer cancel()
	m, err := s.NC.RequestWithContext(ctx, "$SYS.REQ.USER.INFO", nil)
	if err != nil {
		return Permissions{}, false
	}
	var answer struct {
		Data struct {
			Permissions struct {
				Publish Permissions     `json:"publish"`
				Replies json.RawMessage `json:"responses"`
			} `json:"permissions"`
		} `json:"data"`
	}
	if json.Unmarshal(m.Data, &answer) != nil {
		return Permissions{}, false
	}
	may := answer.Data.Permissions
	may.Publish.Replies = len(may.Replies) > 0
	return may.Publish, true
}

// MayPublish reports whether the user may publish to a subject. It returns true if the server does not report permissions.
func (s *Conn) MayPublish(ctx context.Context, subject string) bool {
	may, known := s.Permissions(ctx)
	return !known || may.Publish(subject)
}

// Publish reports whether the user may publish to a subject.
func (p Permissions) Publish(subject string) bool {
	covers := func(pattern string) bool { return matches(pattern, subject) }
	return (len(p.Allow) == 0 || slices.ContainsFunc(p.Allow, covers)) && !slices.ContainsFunc(p.Deny, covers)
}

// matches reports whether a subject matches a pattern with the wildcards * and >.
func matches(pattern, subject string) bool {
	p, s := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range p {
		if token == ">" {
			return len(s) > i
		}
		if i >= len(s) || token != "*" && token != s[i] {
			return false
		}
	}
	return len(p) == len(s)
}

// Probe checks that the user may publish to a subject without storing a message: the stream rejects a message that
// expects another stream. The server reports a permission violation before it answers the flush.
func (s *Conn) Probe(ctx context.Context, subject string) error {
	m := nats.NewMsg(subject)
	m.Reply = s.NC.NewInbox() // no subscriber; only a violation matters
	m.Header.Set(jetstream.ExpectedStreamHeader, "-")
	if err := s.NC.PublishMsg(m); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, PublishTimeout)
	defer cancel()
	if err := s.NC.FlushWithContext(ctx); err != nil {
		return err
	}
	return denied(s.NC, nil)
}
