package servicebus

import (
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
)

// Auth says how strictly keys and the tokens signed with them are checked. The zero value is [Lenient].
type Auth = auth.Mode

const (
	// Off checks nothing.
	Off = auth.Off
	// Lenient takes every token that is well formed and has not expired, whatever its key.
	Lenient = auth.Lenient
	// Strict takes tokens that are signed with a configured key and cover what they are used for.
	Strict = auth.Strict
)

// ParseAuth returns the mode of a name: off, lenient or strict in any case; the empty name is [Lenient].
func ParseAuth(name string) (Auth, error) { return auth.ParseMode(name) }

// The key of Microsoft's emulator, which is no secret.
const (
	DefaultKeyName = auth.DefaultName
	DefaultKey     = auth.DefaultKey
)

// SignToken returns a shared access signature for a resource such as sb://host/queue, made with the key of a name and
// good until its expiry.
func SignToken(name, key, resource string, expiry time.Time) string {
	return auth.Sign(name, key, resource, expiry)
}
