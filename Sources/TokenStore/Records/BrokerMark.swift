internal import JSON

// What came from a sign-in that another program of the machine holds is marked so: it is renewed by asking there again.

/// lanyard's own member of such records: the plugin's name.
private let brokerMember = "lanyard_broker"

extension AccessTokenRecord {
    /// The plugin that got it from another program's sign-in; nil if nobody's but lanyard's own.
    public var broker: String? {
        get { other[brokerMember]?.string }
        set { other[brokerMember] = newValue.map { .string($0) } }
    }
}

extension AccountRecord {
    /// The plugin that got it from another program's sign-in; nil if the person signed in to lanyard.
    public var broker: String? {
        get { other[brokerMember]?.string }
        set { other[brokerMember] = newValue.map { .string($0) } }
    }
}
