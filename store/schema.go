package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"
)

// schema counts the forms of what is stored. It grows when an earlier version of Carillon could not read, or would spoil,
// what this one writes:
//
//	1  the first; it has no number in the store
//	2  records under their public names, jobs that begin again after their end
const schema = Schema

// Schema is the form of what this version writes. A store of a later one is refused.
const Schema = 2

// DataSetting is the Setting of a [SettingError] for which what is stored is to blame.
const DataSetting = "store"

// schemaKey is the setting that holds it.
const schemaKey = "schema"

// takeSchema refuses a store that a later version has written, and notes in one that an earlier version has written that
// this one writes now. The earlier one still reads it, as far as it can, while a cluster is brought up process by process.
func (s *Store) takeSchema(ctx context.Context, settings jetstream.KeyValue) error {
	mine := []byte(strconv.Itoa(schema))
	for {
		e, err := settings.Get(ctx, schemaKey)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			if _, err = settings.Create(ctx, schemaKey, mine); !errors.Is(err, jetstream.ErrKeyExists) {
				return translate(err)
			}
			continue // another replica was quicker
		}
		if err != nil {
			return translate(err)
		}
		stored, err := strconv.Atoi(string(e.Value()))
		if err != nil || stored > schema {
			return &SettingError{Setting: DataSetting, Conflict: true, Message: fmt.Sprintf(
				"a later version of Carillon has written it (form %q; this version knows forms up to %d): start that version",
				e.Value(), schema,
			)}
		}
		if stored == schema {
			return nil
		}
		if _, err = settings.Update(ctx, schemaKey, mine, e.Revision()); !overtaken(err) {
			return translate(err)
		}
	}
}
