package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"
)

// Schema is the form of what is stored. It grows when this version could not read, or would spoil, what a later one writes,
// which then refuses an earlier one.
const Schema = 1

// DataSetting is the Setting of a [SettingError] for which what is stored is to blame.
const DataSetting = "store"

// schemaKey is the setting that holds it.
const schemaKey = "schema"

// takeSchema refuses a store of another form, and notes the form of a new one.
func takeSchema(ctx context.Context, settings jetstream.KeyValue) error {
	mine := strconv.Itoa(Schema)
	e, err := settings.Get(ctx, schemaKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		if _, err = settings.Create(ctx, schemaKey, []byte(mine)); !errors.Is(err, jetstream.ErrKeyExists) {
			return translate(err)
		}
		e, err = settings.Get(ctx, schemaKey) // another replica was quicker
	}
	if err != nil {
		return translate(err)
	}
	if stored := string(e.Value()); stored != mine {
		return &SettingError{Setting: DataSetting, Conflict: true, Message: fmt.Sprintf(
			"a later version of Carillon has written it (form %q; this version knows form %s): start that version", stored, mine,
		)}
	}
	return nil
}
