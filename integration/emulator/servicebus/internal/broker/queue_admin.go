package broker

func queueInfo(e *entity) QueueInfo {
	return QueueInfo{Name: e.name, Options: e.settings.QueueOptions, Usage: e.usage()}
}

// CreateQueue makes a queue. It fails with EntityExists if there is a queue or topic of the name, or ArgumentError.
func (b *Broker) CreateQueue(name string, options QueueOptions) (QueueInfo, error) {
	e, err := b.create(queueKind, "", name, settings{QueueOptions: options}, []Rule{})
	return describe(e, err, queueInfo)
}

// UpdateQueue changes a queue's options.
func (b *Broker) UpdateQueue(name string, options QueueOptions) (QueueInfo, error) {
	e, err := b.update(queueKind, name, settings{QueueOptions: options})
	return describe(e, err, queueInfo)
}

// DeleteQueue deletes a queue and its messages.
func (b *Broker) DeleteQueue(name string) error {
	return b.delete(queueKind, name)
}

// Queue describes a queue.
func (b *Broker) Queue(name string) (QueueInfo, error) {
	e, err := b.find(queueKind, name)
	return describe(e, err, queueInfo)
}

// Queues describes all queues, by name.
func (b *Broker) Queues() []QueueInfo { return infos(b.ofKind(queueKind), queueInfo) }
