package broker

// AuthorizationRules returns the keys of the queue or topic at a path, or none.
func (b *Broker) AuthorizationRules(path string) []AuthorizationRule {
	e := b.entity(path)
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.settings.AuthorizationRules
}

// AllAuthorizationRules returns the keys of all queues and topics, by their paths.
func (b *Broker) AllAuthorizationRules() map[string][]AuthorizationRule {
	rules := map[string][]AuthorizationRule{}
	for _, e := range b.all() {
		e.mu.Lock()
		if of := e.settings.AuthorizationRules; len(of) > 0 {
			rules[e.path] = of
		}
		e.mu.Unlock()
	}
	return rules
}
