import Addresses
import FoundationEssentials
import HTTP
import Keyring
import Model
import Rules

@testable import JSON
@testable import ManagedIdentity
@testable import MicrosoftIdentity
@testable import OAuth
@testable import OtherCaches
@testable import PluginWire
@testable import Secrets

extension FuzzTarget {
    /// Any JSON document.
    static let json = FuzzTarget("json") { input in
        guard let value = JSONValue(bytes: input) else { return }
        try require(depth(value) <= 64, "a document that nests \(depth(value)) deep")
        let encoded = value.encoded()
        let again = JSONValue(bytes: encoded)
        try require(again != nil, "what was written can't be read again")
        try requireSame(encoded, again?.encoded(), "a value is another after a round trip")
    }

    /// Another program's cache: MSAL's, as stored by the Azure CLI and others, or ADAL's after a leading `[`; or the
    /// settings of gh or glab.
    static let document = FuzzTarget("document") { input in
        for entry in [HostTokens(gh: input), HostTokens(glab: input)].flatMap({ $0?.entries ?? [] }) {
            guard let password = OtherPassword(entry, anybody: "x") else { continue }
            let host = password.request.host?.text ?? ""
            try require(entry.host.lowercased().hasPrefix(host), "a token for another host than the settings name")
            let texts = [password.request.username ?? "\n", entry.token?.reveal() ?? "\n"]
            try require(texts.allSatisfy { !$0.isEmpty && !$0.utf8.contains(0x0A) }, "a password that is two lines")
        }
        guard let cache = OtherCache(adal: input) ?? OtherCache(unified: input) else { return }
        let stored = cache.records.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        for clients in [nil, ["04b07795-8ddb-461a-bbee-02f9e1bf7b46"]] as [Set<String>?] {
            let rules = ImportRules(
                clientIDs: clients, environment: { $0.hasPrefix("login.") ? ["login.example", $0] : nil },
                now: 1_800_000_000)
            let plan = ImportPlan(cache.records, stored: stored, rules: rules)
            try require(plan.entries.count == cache.records.count, "a record is lost, or is there twice")
            try require(plan.imported.allSatisfy(\.isOfRightShape), "a record of a wrong shape is taken")
        }
        let written = UnifiedCache(cache.records).json()
        let again = UnifiedCache(json: written)
        try requireSame(written, again?.json(), "an export that imports as something else")
    }

    /// An authority's answer; the first byte selects the request.
    static let authority = FuzzTarget("authority") { input in
        guard let kind = input.first else { return }
        let body = Data(input.dropFirst())
        let answer = HTTPAnswer(status: kind & 1 == 0 ? 200 : 400, body: Array(body))
        do throws(OAuthError) {
            switch kind >> 1 & 3 {
            case 0:
                let tokens = try TokenResponse(answer, from: "login.example", stage: .redemption)
                _ = EntraTokens(tokens)
            case 1: _ = try DeviceAuthorization(answer, from: "login.example")
            case 2: if let refusal = ErrorResponse(answer) { throw OAuthError(refusal, at: .refresh) }
            default:
                let claims = try EntraClaims(Secret("e30.\(Base64URL.encode(body)).c2ln"))
                let issuer = claims.expectedIssuer(claims.token.issuer, aliases: [])
                try claims.token.check(.init(issuer: issuer, audience: "x", nonce: nil), sent: nil)
            }
        } catch {
            try requireError(error.pluginError())
        }
    }

    /// A machine platform's answer; the first byte selects the platform and the status.
    static let platform = FuzzTarget("platform") { input in
        guard let kind = input.first.map(Int.init) else { return }
        let platform = Platform.allCases[kind % Platform.allCases.count]
        let status = [200, 400, 401, 403, 429, 500][kind / Platform.allCases.count % 6]
        let answer = HTTPAnswer(status: status, body: Array(input.dropFirst()))
        let token: PlatformToken
        var isTold = false
        do throws(IdentityError) {
            let source = try platform.source(in: machine)
            let demand = Demand(.system, for: "x")
            let request = try source.request(for: demand)
            isTold = request.headers.values.contains { $0.reveal().contains(header) }
            guard status == 200 else { throw IdentityError.refusal(answer, to: request, from: source, for: demand) }
            token = try PlatformToken(answer, from: source, to: demand, now: 1_800_000_000)
        } catch {
            try requireError(error.plain)
            // A platform that hasn't received the secret can contain the same text only by chance.
            return try require(!isTold || !"\(error)".contains(header), "an error with a secret")
        }
        try require((1...315_360_000).contains(token.expiresIn), "a token that has ended, or never does")
        try require(token.refreshIn.map { (1...token.expiresIn).contains($0) } ?? true, "a token got anew too late")
    }

    private static let header = "the-secret-header"
    /// Surroundings with every platform's variables.
    private static let machine = MachineSurroundings(
        [
            ("IDENTITY_ENDPOINT", "https://localhost/token"), ("IDENTITY_HEADER", header), ("MSI_SECRET", header),
            ("IDENTITY_SERVER_THUMBPRINT", String(repeating: "a", count: 40)), ("MSI_ENDPOINT", "http://localhost/"),
        ].map { PluginField($0.0, Secret($0.1)) }, root: "/nowhere")

    private static func depth(_ value: JSONValue) -> Int {
        switch value {
        case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(depth).max() ?? 0)
        default: 0
        }
    }
}
