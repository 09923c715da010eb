import Addresses
package import Secrets

/// A defect of a message; the text contains only keys, never values.
package struct WireFault: Error, Equatable {
    package let text: String

    package static func missing(_ key: String) -> WireFault { WireFault(text: "no \(key)") }
    package static func invalid(_ key: String) -> WireFault { WireFault(text: "an invalid \(key)") }
    package static func unexpected(_ key: String) -> WireFault { WireFault(text: "an unexpected \(key)") }
}

/// Reads the keys of one message and checks each value; other keys are ignored.
package struct WireReader {
    package let block: Attributes

    package init(_ block: Attributes) {
        self.block = block
    }

    /// Returns the value; nil if the key is missing or empty.
    package func optional(_ key: String, _ form: WireForm) throws(WireFault) -> String? {
        guard let value = block[key], !value.isEmpty else { return nil }
        guard form.accepts(value) else { throw .invalid(key) }
        return value
    }

    package func required(_ key: String, _ form: WireForm) throws(WireFault) -> String {
        guard let value = try optional(key, form) else { throw .missing(key) }
        return value
    }

    package func secret(_ key: String) throws(WireFault) -> Secret? {
        try optional(key, .secret).map { Secret($0) }
    }

    package func message(_ key: String) throws(WireFault) -> String? {
        try optional(key, .message)?.displayable(limit: 2000)
    }

    package func list(_ key: String, _ form: WireForm, limit: Int = 256) throws(WireFault) -> [String] {
        let values = block.list(key)
        guard values.count <= limit, values.allSatisfy(form.accepts) else { throw .invalid(key) }
        return values
    }

    /// A value that decides nothing: one that can't be used is as good as none.
    package func diagnostic(_ key: String, _ form: WireForm) -> String? {
        block[key].flatMap { form.accepts($0) ? $0 : nil }
    }

    /// The values of a list that decides nothing, as far as they can be used.
    package func diagnostics(_ key: String, _ form: WireForm, limit: Int = 256) -> [String] {
        Array(block.list(key).lazy.filter(form.accepts).prefix(limit))
    }

    /// Returns a number in plain digits; nil if the key is missing or empty.
    package func number(_ key: String, in range: ClosedRange<Int>) throws(WireFault) -> Int? {
        guard let value = try optional(key, .token(20)) else { return nil }
        guard value.utf8.allSatisfy(\.isDigit), let number = Int(value), range.contains(number) else {
            throw .invalid(key)
        }
        return number
    }
}

/// Ranges of times in the protocol.
package enum Lifetime {
    /// Lifetimes in seconds: up to ten years, more than any authority allows.
    package static let range = 0...315_360_000
    /// Times in seconds since 1970: up to the year 9999.
    package static let ofClocks = 0...253_402_300_799
    /// How long the host waits for an answer, in milliseconds.
    package static let ofRequest = 1...86_400_000
    /// How long the host stores a plugin's memo, in seconds: up to a month.
    package static let ofMemo = 1...2_592_000
}
