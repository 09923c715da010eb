import Addresses
import PluginWire
import Secrets
import Terminal

/// Stored records for people, grouped by account, within 80 columns if words allow.
struct RecordListing {
    let facts: [RecordFacts]
    let now: Int

    var lines: [String] {
        let owners = Dictionary(grouping: facts, by: Self.owner)
        let sections = owners.sorted { $0.key < $1.key }.map { owner, facts in
            [owner] + facts.sorted(by: Self.isBefore).flatMap(lines)
        }
        return Array(sections.joined(separator: [""]))
    }

    private static func owner(_ facts: RecordFacts) -> String {
        let place = facts.environment.displayable(limit: 100)
        return facts.whose.map { "\($0) at \(place)" } ?? "(clients) at \(place)"
    }

    private static func isBefore(_ one: RecordFacts, _ other: RecordFacts) -> Bool {
        let order = ["account": 0, "refresh token": 1, "access token": 2, "exchanged": 3, "ID token": 4]
        return (order[one.what] ?? 5, one.clientID, one.tenant, one.scopes.joined())
            < (order[other.what] ?? 5, other.clientID, other.tenant, other.scopes.joined())
    }

    private func lines(_ facts: RecordFacts) -> [String] {
        var details: [String] = []
        if let state = state(facts) { details.append(state) }
        if !facts.clientID.isEmpty { details.append("client \(facts.clientID.displayable(limit: 100))") }
        if let family = facts.family {
            details.append(family.isEmpty ? "of no family" : "family \(family.displayable(limit: 20))")
        }
        if !["", PluginProtocol.realmOfHost].contains(facts.tenant) {
            details.append("tenant \((facts.tenant.percentDecoded ?? facts.tenant).displayable(limit: 100))")
        }
        if let audience = facts.audience { details.append("for \(audience.displayable(limit: 255))") }
        if !facts.scopes.isEmpty {
            details.append(facts.scopes.map { $0.displayable(limit: 200) }.joined(separator: " "))
        }
        let rows = [[facts.what, details.first ?? ""]] + details.dropFirst().map { ["", $0] }
        return Table(rows, atLeast: [13]).wrapped(columns: 80, indent: 2).map { "  " + $0 }
    }

    private func state(_ facts: RecordFacts) -> String? {
        if let expiresOn = facts.expiresOn {
            guard expiresOn <= now else { return "expires in \((expiresOn - now).timeInWords)" }
            let ended = "expired \((now - expiresOn).timeInWords) ago"
            return (facts.usableUntil ?? 0) > now ? ended + ", but usable while the authority is down" : ended
        }
        if facts.isEndless { return "valid until it is revoked" }
        return facts.storedOn.map { "stored \(max(0, now - $0).timeInWords) ago" }
    }
}
