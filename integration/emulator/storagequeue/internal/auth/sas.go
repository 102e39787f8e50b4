package auth

import (
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// The service versions at which the signed text changed.
const (
	withStore       = "2015-02-21" // the resource begins with /queue
	withSource      = "2015-04-05" // source and protocol are signed; account signatures exist
	withScope       = "2020-12-06" // account signatures end with an encryption scope
	earliestVersion = "2012-02-12"
)

// A sas is a signature of the URL as it was sent: values are signed in their original notation.
type sas struct {
	version     string
	services    string // of an account's signature only, as the next two
	types       string
	scope       string
	permissions string
	start       string
	expiry      string
	policy      string // identifier of a stored access policy; of a queue's signature only
	source      string
	protocol    string
	signature   string
	account     bool // made for an account, not for a queue
}

func readSAS(query url.Values) sas {
	return sas{
		version:     query.Get("sv"),
		services:    query.Get("ss"),
		types:       query.Get("srt"),
		scope:       query.Get("ses"),
		permissions: query.Get("sp"),
		start:       query.Get("st"),
		expiry:      query.Get("se"),
		policy:      query.Get("si"),
		source:      query.Get("sip"),
		protocol:    query.Get("spr"),
		signature:   query.Get("sig"),
		account:     query.Has("ss") || query.Has("srt"),
	}
}

// check reports missing and malformed parts.
func (s *sas) check(queue string) error {
	_, err := time.Parse(time.DateOnly, s.version)
	switch {
	case s.version == "":
		return denied("sv is mandatory. Cannot be empty.")
	case err != nil || s.version < earliestVersion:
		return denied("sv is not in the correct format.")
	case s.signature == "":
		return denied("sig is mandatory. Cannot be empty.")
	case s.account && s.version < withSource:
		return denied("sv is too old for the signature of an account.")
	case s.account && (s.services == "" || s.types == ""):
		return denied("ss and srt are mandatory. Cannot be empty.")
	case !s.account && queue == "":
		return denied("The signature of a queue cannot be used for an account: ss and srt are mandatory.")
	case (s.account || s.policy == "") && (s.permissions == "" || s.expiry == ""):
		return denied("sp and se are mandatory. Cannot be empty.")
	}
	return nil
}

// stringToSign returns the signed text.
func (s *sas) stringToSign(account, queue string) string {
	if s.account {
		fields := []string{account, s.permissions, s.services, s.types, s.start, s.expiry, s.source, s.protocol, s.version}
		if s.version >= withScope {
			fields = append(fields, s.scope)
		}
		return strings.Join(fields, "\n") + "\n"
	}
	resource := "/" + account + "/" + queue
	if s.version >= withStore {
		resource = "/queue" + resource
	}
	fields := []string{s.permissions, s.start, s.expiry, resource, s.policy}
	if s.version >= withSource {
		fields = append(fields, s.source, s.protocol)
	}
	return strings.Join(append(fields, s.version), "\n")
}

func (r *Request) verifySAS(key []byte, policies Policies, now time.Time) error {
	s := readSAS(r.Query)
	if err := s.check(r.Queue); err != nil {
		return err
	}
	text := s.stringToSign(r.Account, r.Queue)
	if !signed(key, text, s.signature) {
		return denied("Signature did not match. String to sign used was " + text)
	}
	if s.policy != "" && !s.account {
		if err := s.complete(policies); err != nil {
			return err
		}
	}
	if err := s.verifyTime(now); err != nil {
		return err
	}
	if err := s.verifySource(r.Remote); err != nil {
		return err
	}
	switch s.protocol {
	case "", "https,http":
	case "https":
		if !r.Secure {
			return wire.ProtocolMismatch
		}
	default:
		return denied("spr is not in the correct format.")
	}
	return s.verifyNeed(r.Need)
}

// complete adds the values of the stored access policy. Specifying a value twice is an error.
func (s *sas) complete(policies Policies) error {
	policy, ok := policies(s.policy)
	if !ok {
		return denied("The access policy '" + s.policy + "' is not found.")
	}
	for _, field := range []struct {
		name   string
		value  *string
		stored string
	}{
		{"st", &s.start, wire.OptionalISOTime(policy.Start)},
		{"se", &s.expiry, wire.OptionalISOTime(policy.Expiry)},
		{"sp", &s.permissions, policy.Permission},
	} {
		switch {
		case *field.value != "" && field.stored != "":
			return denied(field.name + " is in both the signature and its access policy.")
		case *field.value == "":
			*field.value = field.stored
		}
	}
	if s.expiry == "" || s.permissions == "" {
		return denied("sp and se are mandatory, in the signature or in its access policy.")
	}
	return nil
}

func (s *sas) verifyTime(now time.Time) error {
	expiry, ok := wire.ParseISOTime(s.expiry)
	if !ok {
		return denied("se is not in the correct format.")
	}
	start, ok := wire.ParseISOTime(s.start)
	if s.start != "" && !ok {
		return denied("st is not in the correct format.")
	}
	if now.Before(start) || !now.Before(expiry) {
		return denied("Signature not valid in the specified time frame: Start [" + s.start + "] - Expiry [" + s.expiry +
			"] - Current [" + wire.HTTPTime(now) + "]")
	}
	return nil
}

func (s *sas) verifySource(remote netip.Addr) error {
	if s.source == "" {
		return nil
	}
	low, high, isRange := strings.Cut(s.source, "-")
	first, err := netip.ParseAddr(low)
	last := first
	if err == nil && isRange {
		last, err = netip.ParseAddr(high)
	}
	if err != nil {
		return denied("sip is not in the correct format.")
	}
	remote = remote.Unmap()
	if remote.Less(first) || last.Less(remote) {
		return wire.SourceIPMismatch
	}
	return nil
}

func (s *sas) verifyNeed(need Need) error {
	switch {
	case !s.account && need.Queue == "":
		return wire.NotAuthorized // no signature of a queue would do
	case !s.account:
		if !strings.ContainsAny(s.permissions, need.Queue) {
			return wire.PermissionMismatch
		}
	case !strings.Contains(s.services, "q"):
		return wire.ServiceMismatch
	case strings.IndexByte(s.types, need.Resource) < 0:
		return wire.ResourceTypeMismatch
	case !strings.ContainsAny(s.permissions, need.Account):
		return wire.PermissionMismatch
	}
	return nil
}
