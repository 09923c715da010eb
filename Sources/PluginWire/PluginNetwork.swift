public import Secrets

/// What the host found in the user's settings about the way to an authority; the variables for proxies and certificates
/// count besides.
public struct PluginNetwork: Sendable, Equatable {
    /// The proxy's URL, which may contain a password; empty for no proxy, nil for the one that the variables name.
    public var proxy: Secret?
    /// How to prove oneself to the proxy: `basic`, `digest`, `ntlm`, `negotiate`; nil for whatever it asks for.
    public var proxyAuthentication: String?
    /// Files of PEM certificates to trust in addition to the system's.
    public var caFiles: [String] = []
    /// A folder of files of PEM certificates to trust in addition.
    public var caFolder: String?
    /// The PEM file of the certificate that proves the user to the server; nil for none.
    public var certificate: String?
    /// The PEM file of its key; nil if that is in the same file.
    public var certificateKey: String?
    /// The oldest version of TLS to accept, `1.2` or `1.3`; nil for 1.2.
    public var oldestTLS: String?

    /// Creates settings without effect.
    public init() {}

    /// How the wire calls no proxy: an empty value is no value.
    private static let noProxy = "none"

    init(_ reader: WireReader) throws(WireFault) {
        proxy = try reader.secret("proxy").map { $0.reveal() == Self.noProxy ? Secret("") : $0 }
        proxyAuthentication = try reader.optional("proxy_authentication", .token(32))
        caFiles = try reader.list("ca_file[]", .text(4096), limit: 8)
        caFolder = try reader.optional("ca_folder", .text(4096))
        certificate = try reader.optional("tls_certificate", .text(4096))
        certificateKey = try reader.optional("tls_key", .text(4096))
        oldestTLS = try reader.optional("oldest_tls", .token(8))
    }

    func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("proxy", proxy.map { $0.isEmpty ? Secret(Self.noProxy) : $0 })
        try writer.put("proxy_authentication", proxyAuthentication)
        try writer.put("ca_file[]", list: caFiles)
        try writer.put("ca_folder", caFolder)
        try writer.put("tls_certificate", certificate)
        try writer.put("tls_key", certificateKey)
        try writer.put("oldest_tls", oldestTLS)
    }
}
