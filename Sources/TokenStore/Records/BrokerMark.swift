internal import JSON

// Records from a broker's sign-in, which another program of the machine holds, are marked: they are renewed through the
// broker.

/// lanyard's own member of such records: the plugin's name.
private let brokerMember = "lanyard_broker"

extension AccessTokenRecord {
    /// The plugin that got it from a broker's sign-in; nil if the user signed in to lanyard.
    public var broker: String? {
        get { other[brokerMember]?.string }
        set { other[brokerMember] = newValue.map { .string($0) } }
    }
}

extension AccountRecord {
    /// The plugin that got it from a broker's sign-in; nil if the user signed in to lanyard.
    public var broker: String? {
        get { other[brokerMember]?.string }
        set { other[brokerMember] = newValue.map { .string($0) } }
    }
}
