import JSON
import Terminal

extension Console {
    /// Writes a result for programs to stdout.
    func print(json value: JSONValue) { print(value.encoded(pretty: true)) }
}
