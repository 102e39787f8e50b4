package scheduler

import (
	"context"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// secretMissing is added to "is required" where the job has a secret: whoever
// puts back what get has shown cannot know what is missing.
const secretMissing = "; secrets are not shown by get: send it again, or use PATCH"

// hintSecrets explains the problems of a document that was put without the
// secrets that its job has.
func (s *Service) hintSecrets(ctx context.Context, k Key, err error) error {
	problems := slices.Clone(problemsIn(err))
	required := slices.ContainsFunc(problems, func(p document.Problem) bool { return p.Message == requiredMessage })
	if !required {
		return err
	}
	cur, _, failed := s.find(ctx, k)
	if failed != nil || cur == nil {
		return err // the document's problems are what counts
	}
	open, locked := cur.Def.properties.SecretPaths()
	for i, p := range problems {
		path := strings.TrimPrefix(p.Path, "properties.")
		if p.Message == requiredMessage && (slices.Contains(open, path) || slices.Contains(locked, path)) {
			problems[i].Message += secretMissing
		}
	}
	return AsInvalid(problems)
}

// requiredMessage is how [document.Object.Require] tells of a missing member.
const requiredMessage = "is required"
