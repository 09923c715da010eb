import Addresses
import HTTP
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// What the start URLs of IAM Identity Center say.
enum StartURL {
    private static let names = [
        "identitycenter.amazonaws.com", "identitycenter.us-gov.amazonaws.com", "identitycenter.amazonaws.com.cn",
        "identitycenter.amazonaws.eu",
    ]
    private static let domains = [
        ".awsapps.com", ".awsapps.cn", ".app.aws", ".app.amazonwebservices.com.cn", ".api.amazonwebservices.eu",
        ".portal.amazonaws.com", ".portal.amazonaws.com.cn", ".portal.amazonaws.eu",
    ]

    /// Returns the region in the name of a start URL's host: `ID.portal.REGION.app.aws`, or `ID.REGION.portal.amazonaws.com`.
    static func region(inHost host: String) -> String? {
        let labels = host.pieces(between: ".").map(String.init)
        guard labels.count > 4 else { return nil }
        if labels[2] == "portal", labels[3] == "amazonaws" { return labels[1] }
        let domains = ["app.aws", "app.amazonwebservices.com.cn", "api.amazonwebservices.eu"]
        return labels[1] == "portal" && domains.contains(labels[3...].joined(separator: ".")) ? labels[2] : nil
    }

    /// Returns the start URL that AWS knows: the user's own, or the one that a URL at a domain of their organisation leads to.
    ///
    /// - Throws: `invalid-request` if it leads elsewhere.
    static func atAWS(
        _ url: String, _ address: StrictURL, _ transport: Transport
    ) async throws(PluginError) -> String {
        guard !isAtAWS(address.host.name) else { return url }
        let answer: HTTPAnswer
        do throws(OAuthError) { answer = try await transport.get(url) } catch { throw error.plain }
        let target = (300..<400).contains(answer.status) ? answer.first("location") : nil
        guard let start = target?.pieces(between: "#").first.map({ String($0).withoutTrailingSlashes }),
            start.utf8.count <= 2048, let place = StrictURL(https: start), isAtAWS(place.host.name)
        else {
            throw PluginError(
                .invalidRequest, "\(address.hostText) doesn't lead to a start URL of AWS's",
                hint: "open \(url.displayable(limit: 200)) in a browser, and name the start URL that it ends at")
        }
        return start
    }

    private static func isAtAWS(_ host: String) -> Bool {
        names.contains(host) || domains.contains(where: host.hasSuffix)
    }
}
