import JSON
import Secrets

/// The members of a JSON object, taken out one by one; what nobody took is left over.
struct Members {
    private(set) var rest: [String: JSONValue]

    init(_ members: [String: JSONValue]) {
        rest = members
    }

    /// Takes a text; "" if it is absent or not a text.
    mutating func text(_ name: String) -> String {
        optionalText(name) ?? ""
    }

    /// Takes a text; a member of another type is left where it is, so that it survives.
    mutating func optionalText(_ name: String) -> String? {
        guard let text = rest[name]?.text else { return nil }
        rest[name] = nil
        return text
    }

    /// Takes a time, written as a whole number or a decimal string; one that nobody could reckon with is left where it is.
    mutating func number(_ name: String) -> Int? {
        guard let number = rest[name]?.time else { return nil }
        rest[name] = nil
        return number
    }

    /// Takes a secret; nil if it is absent or empty.
    mutating func secret(_ name: String) -> Secret? {
        guard let text = optionalText(name), !text.isEmpty else { return nil }
        return Secret(text)
    }

    /// Takes an object of secrets; empty if it is absent or holds anything else.
    mutating func secrets(_ name: String) -> [String: Secret] {
        guard let members = rest[name]?.members, members.values.allSatisfy({ $0.string != nil }) else { return [:] }
        rest[name] = nil
        return members.compactMapValues { $0.string.map { Secret($0) } }
    }
}

extension [String: JSONValue] {
    /// Puts a text in; an absent one leaves whatever is there.
    mutating func put(_ name: String, _ text: String?) {
        if let text { self[name] = .string(text) }
    }

    /// Puts a time in the way MSAL writes it: as a decimal string.
    mutating func put(_ name: String, seconds: Int?) {
        if let seconds { self[name] = .string(String(seconds)) }
    }
}
