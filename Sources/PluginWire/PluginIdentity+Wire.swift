import Addresses
import Claims
import Secrets

extension PluginIdentity {
    func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("identity", kind.rawValue)
        try writer.put("managed_id", managedID)
        try writer.put("assumed", isAssumed ? "yes" : nil)
        try writer.put("certificate", certificate)
        try writer.put("certificate_password", certificatePassword)
        try writer.put("assertion", assertion)
        try writer.put("variable[]", fields: variables)
    }

    /// Parses the identity that a token is for; nil if the request has none.
    init?(_ reader: WireReader) throws(WireFault) {
        guard let name = try reader.optional("identity", .token(64)) else { return nil }
        self.init(Kind(rawValue: name))
        managedID = try reader.optional("managed_id", .managedID)
        isAssumed = try reader.optional("assumed", .token(16)) == "yes"
        certificate = try reader.optional("certificate", .absolutePath)
        certificatePassword = try reader.optional("certificate_password", .text(1024)).map { Secret($0) }
        assertion = try reader.optional("assertion", .text(4096))
        variables = try reader.fields("variable[]")
    }

    /// Checks that an identity of a known kind has its required properties, and not more than one proof.
    func check(clientSecret: Secret?) throws(WireFault) {
        switch kind {
        case .client:
            let proofs = [clientSecret != nil, certificate != nil, assertion != nil].count { $0 }
            guard proofs > 0 else { throw .missing("client_secret, certificate or assertion") }
            guard proofs == 1 else { throw .unexpected("second proof of who the client is") }
        case .managed:
            guard managedID != nil else { throw .missing("managed_id") }
        default: break
        }
    }
}

extension PluginEndpoints {
    func write(to writer: inout WireWriter) throws(ProtocolError) {
        for (name, endpoint) in Self.names { try writer.put(name, self[keyPath: endpoint]) }
    }

    init(_ reader: WireReader) throws(WireFault) {
        self.init()
        for (name, endpoint) in Self.names {
            self[keyPath: endpoint] = try reader.optional(name, .securePage)
        }
    }
}

extension WireWriter {
    mutating func put(_ key: String, fields: [PluginField]) throws(ProtocolError) {
        for field in fields { try put(key, "\(field.name)=\(field.value.reveal())") }
    }
}

extension WireReader {
    /// The highest number of fields in a list; no resource needs as many.
    private static let mostFields = 64

    /// Returns the fields in `NAME=VALUE` texts; a value may be any text on one line.
    func fields(_ key: String) throws(WireFault) -> [PluginField] {
        try list(key, .text(65_535), limit: Self.mostFields).map { text throws(WireFault) in
            guard let (name, value) = text.cut(at: "="), WireForm.fieldName.accepts(String(name)) else {
                throw .invalid(key)
            }
            return PluginField(String(name), Secret(String(value)))
        }
    }
}

extension WireForm {
    /// A variable's name, as in POSIX.
    package static let fieldName = WireForm(limit: 128, allows: \.isVariableName)
    /// One of a machine's identities.
    package static let managedID = WireForm(limit: 1024, allows: \.isManagedIdentity)
    /// An absolute path of a file.
    package static let absolutePath = WireForm(limit: 4096) { text(4096).accepts($0) && $0.utf8.first == 0x2F }
    /// A resource indicator (RFC 8707, 2): an absolute URI without a fragment.
    package static let resource = WireForm(limit: 2048, allows: StrictURL.isResourceIndicator)
}
