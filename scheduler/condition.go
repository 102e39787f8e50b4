package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ETag names the definition that the job has, as RFC 9110 writes a strong entity tag. Every edit of a user changes it, and
// nothing else does: neither runs, nor the job's end, nor another key for its secrets. It tells jobs of one name apart, one
// after the other. Counters and times of the job's status are not part of what it names.
func (j *Job) ETag() string {
	if j.UID == "" { // it is damaged
		return revisionTag(j.Revision)
	}
	return definitionTag(j.UID, j.Generation)
}

func definitionTag(uid string, generation int) string {
	return strconv.QuoteToASCII((&Job{UID: uid}).Incarnation() + "-" + strconv.Itoa(generation))
}

// revisionTag is "" for what is not stored.
func revisionTag(revision uint64) string {
	if revision == 0 {
		return ""
	}
	return `"r` + strconv.FormatUint(revision, 10) + `"`
}

// ETag names what is stored of the collection, as [Job.ETag] does for jobs. It is "" for one that is not stored.
func (c *Collection) ETag() string { return revisionTag(c.Revision) }

// StoredETag is the [Job.ETag] of a stored job that nobody has read. It is "" for none.
func StoredETag(st Stored) string {
	switch m, err := decodeMeta(st.Data); {
	case len(st.Data) == 0:
		return ""
	case err != nil:
		return revisionTag(st.Revision)
	default:
		return definitionTag(m.UID, m.Generation)
	}
}

// The headers of a [Condition], in HTTP (RFC 9110, sections 13.1.1 and 13.1.2).
const (
	IfMatch     = "If-Match"
	IfNoneMatch = "If-None-Match"
)

// Condition is what must hold of a job or collection for a request to be carried out. The zero Condition holds always.
type Condition struct {
	match     *entityTags // nil: not asked for
	noneMatch *entityTags
}

// entityTags are the tags of a condition.
type entityTags struct {
	any  bool        // *: there is something
	tags []entityTag // or one of these
}

type entityTag struct {
	weak bool
	text string // with its quotes
}

// ReadCondition reads the values of If-Match and of If-None-Match, nil for a header that is not there. The error matches
// [ErrInvalid], and names the header.
func ReadCondition(match, noneMatch []string) (c Condition, err error) {
	c.match, err = readTags(IfMatch, match)
	none, failed := readTags(IfNoneMatch, noneMatch)
	c.noneMatch = none
	return c, errors.Join(err, failed)
}

// readTags reads "*" or a list of tags, in one line or several.
func readTags(header string, lines []string) (*entityTags, error) {
	if len(lines) == 0 {
		return nil, nil //nolint:nilnil // no condition
	}
	rest := strings.Trim(strings.Join(lines, ","), " \t")
	if rest == "*" {
		return &entityTags{any: true}, nil
	}
	all := &entityTags{}
	for {
		rest = strings.TrimLeft(rest, " \t,") // empty elements are allowed (section 5.6.1)
		if rest == "" {
			break
		}
		tag, after, ok := cutTag(rest)
		if !ok {
			return nil, Invalid(header, fmt.Sprintf(
				`%q is neither * nor a list of ETags in quotes, such as "a1b2-3"`, strings.Join(lines, ","),
			))
		}
		all.tags, rest = append(all.tags, tag), after
	}
	if len(all.tags) == 0 {
		return nil, Invalid(header, "is empty; it is * or a list of ETags in quotes")
	}
	return all, nil
}

// cutTag reads the first of a list of tags (section 8.8.3).
func cutTag(list string) (tag entityTag, rest string, ok bool) {
	opaque, weak := strings.CutPrefix(list, "W/")
	end := strings.IndexByte(opaque[min(1, len(opaque)):], '"') + 1
	if !strings.HasPrefix(opaque, `"`) || end < 1 || strings.ContainsFunc(opaque[1:end], notOfTag) {
		return tag, "", false
	}
	rest = strings.TrimLeft(opaque[end+1:], " \t")
	return entityTag{weak, opaque[:end+1]}, rest, rest == "" || rest[0] == ','
}

// notOfTag reports whether a character cannot be in an entity tag.
func notOfTag(r rune) bool { return r <= ' ' || r == 0x7f }

// has reports whether there is something, whose tag is etag ("" for nothing), that the tags ask for. Weak tags match
// where that is asked for by weak comparison (section 8.8.3.2).
func (t *entityTags) has(etag string, weakly bool) bool {
	if etag == "" || t.any {
		return etag != ""
	}
	return slices.ContainsFunc(t.tags, func(tag entityTag) bool { return tag.text == etag && (weakly || !tag.weak) })
}

// IsZero reports whether nothing is asked for.
func (c Condition) IsZero() bool { return c.match == nil && c.noneMatch == nil }

// Judgement is what a condition makes of a request.
type Judgement int

// The judgements.
const (
	Holds      Judgement = iota // it does
	Unmodified                  // what is asked for is known to who asks (304)
	Differs                     // it does not hold (412)
)

// Judge decides about a request for what has the tag etag, "" when there is nothing, in the order of RFC 9110, section
// 13.2.2. reading says that the request changes nothing.
func (c Condition) Judge(etag string, reading bool) Judgement {
	switch {
	case c.match != nil && !c.match.has(etag, false):
		return Differs
	case c.noneMatch == nil || !c.noneMatch.has(etag, true):
		return Holds
	case reading:
		return Unmodified
	}
	return Differs
}

// Check returns a [*PreconditionError] for a change of what has the tag etag, "" when there is nothing, unless the
// condition holds. what is its name.
func (c Condition) Check(what, etag string) error {
	if c.Judge(etag, false) == Holds {
		return nil
	}
	return &PreconditionError{What: what, ETag: etag, new: c.noneMatch != nil && c.noneMatch.any}
}

// PreconditionError says that the [Condition] of a request did not hold, and that nothing was done. It matches
// [ErrPrecondition].
type PreconditionError struct {
	What string // such as "job default/report"
	ETag string // that it has now; "" when there is none

	new bool // it was to be created
}

// Error names what it is about and its tag.
func (e *PreconditionError) Error() string {
	switch {
	case e.ETag == "":
		return e.What + ": precondition failed: there is none, and If-Match asks for one"
	case e.new:
		return fmt.Sprintf("%s: precondition failed: it exists already; its ETag is %s", e.What, e.ETag)
	}
	return fmt.Sprintf(
		"%s: precondition failed: it was changed meanwhile; its ETag is %s now: get it again, and decide anew", e.What, e.ETag,
	)
}

// Is reports whether target is [ErrPrecondition].
func (e *PreconditionError) Is(target error) bool { return target == ErrPrecondition }
