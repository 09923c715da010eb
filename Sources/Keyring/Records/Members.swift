internal import Addresses
import JSON
internal import Secrets

/// The members of a record's JSON object, which are read into its fields or written from them: a record lists each
/// once, for both.
struct Members {
    /// When reading, the members that no field has taken; when writing, those to write.
    private(set) var rest: [String: JSONValue]
    /// Whether something is missing that the record can't do without.
    private(set) var isIncomplete = false
    private let isReading: Bool

    /// Reads the members of an object.
    init(of object: [String: JSONValue]) {
        rest = object
        isReading = true
    }

    /// Writes members beside others.
    init(beside others: [String: JSONValue]) {
        rest = others
        isReading = false
    }

    /// Whether the record can't do without what was just read; it counts only when reading.
    mutating func require(_ isThere: Bool) {
        if isReading, !isThere { isIncomplete = true }
    }

    /// The kind of record, which is written only for others.
    mutating func type(_ name: String) {
        var type: String? = name
        text("credential_type", &type)
    }

    /// A text that may be missing; a member of another type is left in place, so that it is kept.
    mutating func text(_ name: String, _ field: inout String?) {
        guard isReading else { return put(name, field) }
        field = rest[name]?.text
        if field != nil { rest[name] = nil }
    }

    /// A text; if it is missing, the field stays as it is, and the result is false.
    @discardableResult
    mutating func text(_ name: String, _ field: inout String) -> Bool {
        var text: String? = field
        self.text(name, &text)
        field = text ?? field
        return text != nil
    }

    /// A text that isn't written if it is empty.
    mutating func nonemptyText(_ name: String, _ field: inout String) {
        if isReading || !field.isEmpty { text(name, &field) }
    }

    /// The account, which is written as an empty text if there is none.
    mutating func account(_ field: inout String?) {
        var account = field ?? ""
        text("home_account_id", &account)
        field = account.isEmpty ? nil : account
    }

    /// A time, written as MSAL does, in decimal digits; one that is out of range is left in place.
    mutating func time(_ name: String, _ field: inout Int?) {
        guard isReading else { return put(name, field.map { String($0) }) }
        field = rest[name]?.time
        if field != nil { rest[name] = nil }
    }

    /// A time that is always written.
    mutating func time(_ name: String, _ field: inout Int) {
        var time: Int? = field
        self.time(name, &time)
        field = time ?? field
    }

    /// A secret that may be missing; an empty one counts as missing.
    mutating func secret(_ name: String, _ field: inout Secret?) {
        var text = field?.reveal()
        self.text(name, &text)
        field = text.flatMap { $0.isEmpty ? nil : Secret($0) }
    }

    /// A secret that the record can't do without.
    mutating func secret(_ name: String, _ field: inout Secret) {
        var secret: Secret? = field
        self.secret(name, &secret)
        require(secret != nil)
        field = secret ?? field
    }

    /// An object of secrets, which isn't written if it is empty; one with other values is left in place.
    mutating func secrets(_ name: String, _ field: inout [String: Secret]) {
        if !isReading, !field.isEmpty { rest[name] = .object(field.mapValues { .string($0.reveal()) }) }
        guard isReading, let members = rest[name]?.members, members.values.allSatisfy({ $0.string != nil }) else {
            return
        }
        rest[name] = nil
        field = members.compactMapValues { $0.string.map { Secret($0) } }
    }

    private mutating func put(_ name: String, _ text: String?) {
        if let text { rest[name] = .string(text) }
    }
}
