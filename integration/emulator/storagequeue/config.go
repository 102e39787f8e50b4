package storagequeue

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// The account that every storage emulator has, and its key, which is no secret.
const (
	DefaultAccount = "devstoreaccount1"
	DefaultKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// DefaultAddr is where storage emulators serve queues.
const DefaultAddr = "127.0.0.1:10001"

// Keys says what a caller has to prove.
type Keys int

const (
	// Strict verifies every signature and what it permits.
	Strict Keys = iota
	// Lenient takes every account and any key, signature or token, or none.
	Lenient
)

// Config is what an emulator does. The zero value is of use: the default account at the default address, in memory.
type Config struct {
	// Addr is where to listen. Port 0 takes a free one. Default [DefaultAddr].
	Addr string
	// Accounts are the accounts by name, with their keys in base64. Default: [DefaultAccount] with [DefaultKey].
	Accounts map[string]string
	// AnyAccount makes every other account exist too, with [DefaultKey]. Default false; Lenient keys imply it.
	AnyAccount bool
	// Keys says whether signatures are verified. Default [Strict].
	Keys Keys
	// AutoCreate makes a queue when a message is put into it, taken, peeked or cleared. Default false: QueueNotFound.
	AutoCreate bool
	// Data is the folder that keeps everything across restarts. One process at a time can use it. Default: memory only.
	Data string
	// Sync flushes each change to the disk before it is answered, against loss of power. Default false.
	Sync bool
	// Certificate makes the server speak HTTPS. Default none.
	Certificate *tls.Certificate
	// AllowHost decides which names are answered to, as they stand in the header Host, so that no page of the web whose
	// name leads here gets an answer. Default: all.
	AllowHost func(host string) bool
	// Logger gets a line for each request at debug level, and what goes wrong. Default none.
	Logger *slog.Logger
}

// keyring returns the keys of the accounts.
func (c *Config) keyring() (map[string][]byte, error) {
	accounts := c.Accounts
	if len(accounts) == 0 {
		accounts = map[string]string{DefaultAccount: DefaultKey}
	}
	keys := map[string][]byte{}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		if err := CheckAccount(name, accounts[name]); err != nil {
			problems = append(problems, fmt.Errorf("accounts: %w", err))
		}
		key, _ := base64.StdEncoding.DecodeString(accounts[name])
		keys[name] = key
	}
	if c.Keys != Strict && c.Keys != Lenient {
		problems = append(problems, fmt.Errorf("keys: %d is neither Strict nor Lenient", c.Keys))
	}
	return keys, errors.Join(problems...)
}

// CheckAccount reports what is wrong with the name or the key of an account.
func CheckAccount(name, key string) error {
	raw, err := base64.StdEncoding.DecodeString(key)
	switch {
	case !isAccount(name):
		return fmt.Errorf("%q: a name has up to 63 lower-case letters, digits and dashes", name)
	case err != nil:
		return fmt.Errorf("the key of %s: %w", name, err)
	case len(raw) == 0:
		return fmt.Errorf("the key of %s is empty", name)
	}
	return nil
}

// isAccount reports whether a name can be that of an account. Those of the service have 3 to 24 letters and digits.
func isAccount(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return name != "" && len(name) <= 63 && !strings.HasSuffix(name, secondarySuffix)
}

// defaultKey is [DefaultKey] as bytes.
var defaultKey, _ = base64.StdEncoding.DecodeString(DefaultKey)
