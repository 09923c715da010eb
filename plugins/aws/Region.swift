import Addresses
import PluginWire
import Secrets

/// The endpoints of AWS's services in one region.
struct Region: Sendable, Equatable {
    /// The region's name: `eu-central-1`.
    let name: String
    /// The server that stands in for all services; nil for AWS's own.
    let endpoint: String?

    /// Creates a region.
    ///
    /// - Throws: `invalid-request` if that is no region's name.
    init(_ name: String, _ request: PluginRequest) throws(PluginError) {
        let parts = name.pieces(between: "-", omittingEmpty: false)
        guard (3...4).contains(parts.count), (1...2).contains(parts[parts.count - 1].utf8.count),
            parts[parts.count - 1].utf8.allSatisfy(\.isDigit),
            parts.dropLast().allSatisfy({ (2...10).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isLowerCase) })
        else {
            throw PluginError(
                .invalidRequest, "\(name.displayable(limit: 40)) is no region of AWS", hint: Self.optionHint)
        }
        self.name = name
        endpoint = request.options["endpoint"].map(\.withoutTrailingSlashes)
        guard endpoint.map({ StrictURL(https: $0) != nil }) ?? true else {
            throw PluginError(.invalidRequest, "the option `endpoint` of [plugin.aws] is no https URL")
        }
    }

    /// Creates the region that the configuration names.
    init(ofOptionsOf request: PluginRequest) throws(PluginError) {
        guard let name = Self.own(of: request) ?? request.options["region"] else {
            throw PluginError(
                .invalidRequest, "nothing says in which region of AWS \(request.authority.displayable(limit: 200)) is",
                hint: Self.optionHint)
        }
        try self.init(name, request)
    }

    /// The region that the configuration has for the request's start URL alone: `contoso.awsapps.com=eu-central-1`.
    private static func own(of request: PluginRequest) -> String? {
        guard let host = StrictURL(https: request.authority)?.host.name else { return nil }
        let pairs = (request.options["regions"] ?? "").pieces(between: " ").compactMap { $0.cut(at: "=") }
        return pairs.first { $0.0 == host }.map { String($0.1) }
    }

    private static let optionHint =
        "say in which region that is, such as: lanyard config set plugin.aws.region eu-central-1"

    /// Returns the URL of a service, without a slash at the end.
    func url(_ service: String) -> String { endpoint ?? "https://\(service).\(name).\(domains.usual)" }

    /// Returns the URL of a service whose endpoint has a domain for both versions of IP.
    func dualStackURL(_ service: String) -> String {
        endpoint ?? "https://\(service).\(name).\(domains.dualStack)"
    }

    private var domains: AWSDomains { AWSDomains(ofRegion: name) }
}

extension String {
    /// Whether it is the number of an AWS account.
    var isAccountNumber: Bool { utf8.count == 12 && utf8.allSatisfy(\.isDigit) }
}
