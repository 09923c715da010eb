import JSON
import Secrets

/// The members of a JSON object, taken out one by one; the rest are the unknown ones.
struct Members {
    private(set) var rest: [String: JSONValue]

    init(_ members: [String: JSONValue]) {
        rest = members
    }

    /// Takes a string; "" if it is missing or not a string.
    mutating func text(_ name: String) -> String {
        optionalText(name) ?? ""
    }

    /// Takes a string; nil if it is missing, empty or not a string.
    mutating func nonemptyText(_ name: String) -> String? {
        optionalText(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Takes a string; a member of another type is left in place, so that it is kept.
    mutating func optionalText(_ name: String) -> String? {
        guard let text = rest[name]?.text else { return nil }
        rest[name] = nil
        return text
    }

    /// Takes a time, written as a whole number or a decimal string; one that is out of range is left in place.
    mutating func number(_ name: String) -> Int? {
        guard let number = rest[name]?.time else { return nil }
        rest[name] = nil
        return number
    }

    /// Takes a secret; nil if it is missing or empty.
    mutating func secret(_ name: String) -> Secret? {
        nonemptyText(name).map { Secret($0) }
    }

    /// Takes an object of secrets; empty if it is missing or has other values.
    mutating func secrets(_ name: String) -> [String: Secret] {
        guard let members = rest[name]?.members, members.values.allSatisfy({ $0.string != nil }) else { return [:] }
        rest[name] = nil
        return members.compactMapValues { $0.string.map { Secret($0) } }
    }
}

extension [String: JSONValue] {
    /// Sets a string member; nil leaves any existing member in place.
    mutating func put(_ name: String, _ text: String?) {
        if let text { self[name] = .string(text) }
    }

    /// Sets a time as MSAL writes it: a decimal string.
    mutating func put(_ name: String, seconds: Int?) {
        if let seconds { self[name] = .string(String(seconds)) }
    }
}
