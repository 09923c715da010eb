/// The domains of AWS's services in a region, which its partition decides: China, and Europe's own, are apart from the rest.
public struct AWSDomains: Sendable {
    /// The usual domain: `amazonaws.com`.
    public let usual: String
    /// The domain of endpoints for both versions of IP: `api.aws`.
    public let dualStack: String

    private static let all = [
        (regions: "cn-", AWSDomains(usual: "amazonaws.com.cn", dualStack: "api.amazonwebservices.com.cn")),
        (regions: "eusc-", AWSDomains(usual: "amazonaws.eu", dualStack: "api.amazonwebservices.eu")),
        (regions: "", AWSDomains(usual: "amazonaws.com", dualStack: "api.aws")),
    ]

    private init(usual: String, dualStack: String) {
        (self.usual, self.dualStack) = (usual, dualStack)
    }

    /// Creates the domains of a region, such as `eu-central-1`.
    public init(ofRegion name: String) {
        self = Self.all.first { name.utf8.starts(with: $0.regions.utf8) }?.1 ?? Self.all[Self.all.count - 1].1
    }

    /// Whether a host is in a domain of any region's.
    public static func contain(_ host: String) -> Bool {
        all.flatMap { [$0.1.usual, $0.1.dualStack] }.contains { host.hasSuffix(".\($0)") }
    }
}
