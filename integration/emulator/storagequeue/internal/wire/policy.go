package wire

import (
	"bytes"
	"slices"
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
	root.only("SignedIdentifier")
	if len(root.children) > maxPolicies {
		root.fail(InvalidXML.With("Reason", "a queue has up to five access policies"))
	}
	var policies []Policy
	for _, identifier := range root.children {
		policy := identifier.policy()
		if slices.ContainsFunc(policies, func(other Policy) bool { return other.ID == policy.ID }) {
			root.fail(InvalidNode.With("XmlNodeName", "Id").With("XmlNodeValue", policy.ID).
				With("Reason", "the identifier is not unique"))
		}
		policies = append(policies, policy)
	}
	if root.document.err != nil {
		return nil, root.document.err
	}
	return policies, nil
}

func (n *node) policy() Policy {
	n.only("Id", "AccessPolicy")
	id, _ := n.value("Id")
	switch {
	case id == "":
		n.fail(MissingNode.With("XmlNodeName", "Id"))
	case len(id) > maxPolicyID:
		n.fail(InvalidXML.With("Reason", "an identifier has up to 64 characters"))
	}
	access := n.child("AccessPolicy")
	if access == nil {
		return Policy{ID: id}
	}
	access.only("Start", "Expiry", "Permission")
	p := Policy{ID: id, Start: access.time("Start"), Expiry: access.time("Expiry")}
	p.Permission, _ = access.value("Permission")
	if strings.Trim(p.Permission, permissions) != "" {
		access.invalid("Permission", p.Permission)
	}
	return p
}

// time returns the time in the only child of a name, zero if there is none.
func (n *node) time(name string) time.Time {
	text, _ := n.value(name)
	if text == "" {
		return time.Time{}
	}
	t, ok := ParseISOTime(text)
	if !ok {
		n.invalid(name, text)
	}
	return t
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
		optional(&b, "Start", OptionalISOTime(p.Start))
		optional(&b, "Expiry", OptionalISOTime(p.Expiry))
		optional(&b, "Permission", p.Permission)
		b.WriteString("</AccessPolicy></SignedIdentifier>")
	}
	b.WriteString("</SignedIdentifiers>")
	return b.Bytes()
}
