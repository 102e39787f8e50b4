package wire

import (
	"bytes"
	"strings"
	"time"
)

const (
	maxPolicies = 5
	maxPolicyID = 64
	permissions = "raup"
)

// A Policy is a stored access policy of a queue. What it leaves out, a signature that refers to it has to say.
type Policy struct {
	ID         string    `json:"id"`
	Start      time.Time `json:"start,omitzero"`
	Expiry     time.Time `json:"expiry,omitzero"`
	Permission string    `json:"permission,omitempty"`
}

// ParsePolicies reads the access policies of a queue. An empty body has none.
func ParsePolicies(body []byte) ([]Policy, error) {
	if len(body) == 0 {
		return nil, nil
	}
	root, err := parse(body, "SignedIdentifiers")
	if err != nil {
		return nil, err
	}
	if err := root.only("SignedIdentifier"); err != nil {
		return nil, err
	}
	if len(root.children) > maxPolicies {
		return nil, InvalidXML.With("Reason", "a queue has up to five access policies")
	}
	var policies []Policy
	for _, identifier := range root.children {
		policy, err := identifier.policy()
		if err != nil {
			return nil, err
		}
		for _, other := range policies {
			if other.ID == policy.ID {
				return nil, InvalidNode.With("XmlNodeName", "Id").With("XmlNodeValue", policy.ID).
					With("Reason", "the identifier is not unique")
			}
		}
		policies = append(policies, policy)
	}
	return policies, nil
}

func (n *node) policy() (Policy, error) {
	var p Policy
	if err := n.only("Id", "AccessPolicy"); err != nil {
		return p, err
	}
	id, ok, err := n.value("Id")
	switch {
	case err != nil:
		return p, err
	case !ok || id == "":
		return p, MissingNode.With("XmlNodeName", "Id")
	case len(id) > maxPolicyID:
		return p, InvalidXML.With("Reason", "an identifier has up to 64 characters")
	}
	p.ID = id
	access, err := n.child("AccessPolicy")
	if access == nil || err != nil {
		return p, err
	}
	if err := access.only("Start", "Expiry", "Permission"); err != nil {
		return p, err
	}
	if p.Start, err = access.time("Start"); err != nil {
		return p, err
	}
	if p.Expiry, err = access.time("Expiry"); err != nil {
		return p, err
	}
	p.Permission, _, err = access.value("Permission")
	if err == nil && strings.Trim(p.Permission, permissions) != "" {
		err = InvalidNode.With("XmlNodeName", "Permission").With("XmlNodeValue", p.Permission)
	}
	return p, err
}

// time returns the time in the only child of a name, zero if there is none.
func (n *node) time(name string) (time.Time, error) {
	text, _, err := n.value(name)
	if err != nil || text == "" {
		return time.Time{}, err
	}
	t, ok := ParseISOTime(text)
	if !ok {
		return time.Time{}, InvalidNode.With("XmlNodeName", name).With("XmlNodeValue", text)
	}
	return t, nil
}

// Policies is the list of a queue's access policies.
func Policies(policies []Policy) []byte {
	var b bytes.Buffer
	b.WriteString(declaration)
	b.WriteString("<SignedIdentifiers>")
	for _, p := range policies {
		b.WriteString("<SignedIdentifier>")
		element(&b, "Id", p.ID)
		b.WriteString("<AccessPolicy>")
		if !p.Start.IsZero() {
			element(&b, "Start", ISOTime(p.Start))
		}
		if !p.Expiry.IsZero() {
			element(&b, "Expiry", ISOTime(p.Expiry))
		}
		if p.Permission != "" {
			element(&b, "Permission", p.Permission)
		}
		b.WriteString("</AccessPolicy></SignedIdentifier>")
	}
	b.WriteString("</SignedIdentifiers>")
	return b.Bytes()
}
