package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ETag returns a strong entity tag (RFC 9110) of the job's definition. Every edit by a user changes it; runs, the job's
// end and the rotation of secret keys do not. Successive jobs of one name have different tags. The tag does not cover
// the counters and times of the job's status.
func (j *Job) ETag() string {
	if j.UID == "" { // damaged
		return revisionTag(j.Revision)
	}
	return definitionTag(j.UID, j.Generation)
}

func definitionTag(uid string, generation int) string {
	return strconv.QuoteToASCII((&Job{UID: uid}).Incarnation() + "-" + strconv.Itoa(generation))
}

// revisionTag returns "" for a value that is not stored.
func revisionTag(revision uint64) string {
	if revision == 0 {
		return ""
	}
	return `"r` + strconv.FormatUint(revision, 10) + `"`
}

// ETag returns the entity tag of the stored collection, as [Job.ETag] does for jobs; "" if it is not stored.
func (c *Collection) ETag() string { return revisionTag(c.Revision) }

// StoredETag returns the [Job.ETag] of a stored job without decoding all of it; "" for none.
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

// HTTP headers of a [Condition] (RFC 9110, sections 13.1.1 and 13.1.2).
const (
	IfMatch     = "If-Match"
	IfNoneMatch = "If-None-Match"
)

// Condition is a precondition of a request on a job or collection. The zero Condition always holds.
type Condition struct {
	match     *entityTags // nil: no condition
	noneMatch *entityTags
}

// entityTags are the entity tags of a header.
type entityTags struct {
	any  bool        // *: any existing value matches
	tags []entityTag // otherwise, one of these must match
}

type entityTag struct {
	weak bool
	text string // including the quotes
}

// ReadCondition parses the values of If-Match and If-None-Match, nil for an absent header. The error matches
// [ErrInvalid] and names the header.
func ReadCondition(match, noneMatch []string) (c Condition, err error) {
	c.match, err = readTags(IfMatch, match)
	none, failed := readTags(IfNoneMatch, noneMatch)
	c.noneMatch = none
	return c, errors.Join(err, failed)
}

// readTags parses "*" or a list of tags, in one or several header lines.
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

// cutTag parses the first tag of a list (section 8.8.3).
func cutTag(list string) (tag entityTag, rest string, ok bool) {
	opaque, weak := strings.CutPrefix(list, "W/")
	end := strings.IndexByte(opaque[min(1, len(opaque)):], '"') + 1
	if !strings.HasPrefix(opaque, `"`) || end < 1 || strings.ContainsFunc(opaque[1:end], notOfTag) {
		return tag, "", false
	}
	rest = strings.TrimLeft(opaque[end+1:], " \t")
	return entityTag{weak, opaque[:end+1]}, rest, rest == "" || rest[0] == ','
}

// notOfTag reports whether an entity tag cannot contain r.
func notOfTag(r rune) bool { return r <= ' ' || r == 0x7f }

// has reports whether a tag matches etag, the tag of the current value ("" if it does not exist). Weak tags match only
// by weak comparison (section 8.8.3.2).
func (t *entityTags) has(etag string, weakly bool) bool {
	if etag == "" || t.any {
		return etag != ""
	}
	return slices.ContainsFunc(t.tags, func(tag entityTag) bool { return tag.text == etag && (weakly || !tag.weak) })
}

// IsZero reports whether the request has no condition.
func (c Condition) IsZero() bool { return c.match == nil && c.noneMatch == nil }

// ConditionResult is the result of evaluating a condition.
type ConditionResult int

// The judgements.
const (
	Holds      ConditionResult = iota // the request proceeds
	Unmodified                        // the client has the current value (304)
	Differs                           // the condition failed (412)
)

// Evaluate evaluates the condition for a value with the tag etag, "" if it does not exist, in the order of RFC 9110,
// section 13.2.2. reading: the request changes nothing.
func (c Condition) Evaluate(etag string, reading bool) ConditionResult {
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

// Check returns a [*PreconditionError] unless the condition holds for a change of the value with the tag etag, "" if it
// does not exist. The error names the value with what.
func (c Condition) Check(what, etag string) error {
	if c.Evaluate(etag, false) == Holds {
		return nil
	}
	return &PreconditionError{What: what, ETag: etag, new: c.noneMatch != nil && c.noneMatch.any}
}

// PreconditionError states that the [Condition] of a request did not hold. The request had no effect. The error matches
// [ErrPrecondition].
type PreconditionError struct {
	What string // such as "job default/report"
	ETag string // current tag; "" if it does not exist

	new bool // the request was to create it
}

// Error returns the value's name and its current tag.
func (e *PreconditionError) Error() string {
	switch {
	case e.ETag == "":
		return e.What + ": precondition failed: there is none, and If-Match asks for one"
	case e.new:
		return fmt.Sprintf("%s: precondition failed: it exists already; its ETag is %s", e.What, e.ETag)
	}
	return fmt.Sprintf(
		"%s: precondition failed: it was changed meanwhile; its ETag is %s now: get it again, and repeat the change", e.What, e.ETag,
	)
}

// Is reports whether target is [ErrPrecondition].
func (e *PreconditionError) Is(target error) bool { return target == ErrPrecondition }
