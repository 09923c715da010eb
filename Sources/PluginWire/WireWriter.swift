package import Secrets

/// Writes the keys of one message, leaving out nil and empty values.
package struct WireWriter {
    package private(set) var block = Attributes()

    package mutating func put(_ key: String, _ value: String?) throws(ProtocolError) {
        guard let value, !value.isEmpty else { return }
        try block.append(key, value)
    }

    package mutating func put(_ key: String, _ value: Secret?) throws(ProtocolError) {
        try put(key, value?.reveal())
    }

    package mutating func put(_ key: String, _ value: Int?) throws(ProtocolError) {
        try put(key, value.map { String($0) })
    }

    package mutating func put(_ key: String, list values: [String]) throws(ProtocolError) {
        for value in values { try put(key, value) }
    }

    /// Writes a text for people, which may have come from a server and contain anything.
    package mutating func put(_ key: String, message: String?) throws(ProtocolError) {
        try put(key, message?.displayable(limit: 2000))
    }
}

extension Attributes {
    /// The message with the blank line that ends it.
    package var terminated: [UInt8] { encoded + [UInt8(ascii: "\n")] }
}
