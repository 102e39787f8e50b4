package servicebus

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
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

// CheckRights finds what is wrong with names of rights, which are Send, Listen and Manage in any case.
func CheckRights(names []string) error {
	_, err := auth.ParseRights(names)
	return err
}

// keyring returns what checks keys: those of the config, and those that entities have at the moment.
func keyring(config Config, b *broker.Broker) auth.Keyring {
	ring := auth.Keyring{Mode: config.Auth, Keys: config.Keys, Rights: map[string]auth.Rights{}}
	for name, names := range config.Rights {
		ring.Rights[name], _ = auth.ParseRights(names) // checked with the config
	}
	ring.Entity = func(path string) []auth.Key { return entityKeys(path, b.AuthorizationRules(path)) }
	ring.Entities = func() []auth.Key {
		var keys []auth.Key
		for path, rules := range b.AllAuthorizationRules() {
			keys = append(keys, entityKeys(path, rules)...)
		}
		return keys
	}
	return ring
}

// entityKeys returns the keys that the authorization rules of an entity are. A rule without rights, or with unknown ones, opens nothing.
func entityKeys(path string, rules []broker.AuthorizationRule) []auth.Key {
	var keys []auth.Key
	for _, rule := range rules {
		rights, err := auth.ParseRights(rule.Rights)
		if err != nil || len(rule.Rights) == 0 {
			continue
		}
		texts := slices.DeleteFunc([]string{rule.PrimaryKey, rule.SecondaryKey}, func(text string) bool { return text == "" })
		keys = append(keys, auth.Key{Name: rule.KeyName, Texts: texts, Entity: auth.Path(path), Rights: rights})
	}
	return keys
}

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
