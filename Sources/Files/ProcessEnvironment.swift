internal import Glibc

/// The environment of this process, whose values may be any bytes.
///
/// A text can hold only UTF-8. A path of other bytes is represented by one that leads to the same file or folder: that of a
/// descriptor, which stays open until the process ends.
package enum ProcessEnvironment {
    private static let descriptors = "/proc/self/fd/"

    /// The variables; a path of other bytes that leads nowhere is left out, so that nothing is made under another name.
    package static func variables() -> [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            if let equals = strchr(entry, CInt(UInt8(ascii: "="))) {
                let name = UnsafeRawBufferPointer(start: entry, count: equals - entry)
                variables[String(decoding: name, as: UTF8.self)] =
                    String(validatingCString: equals + 1) ?? standIn(for: equals + 1)
            }
            next += 1
        }
        return variables
    }

    /// Whether a variable's value stands for other bytes, in this process only.
    package static func isStandIn(_ value: String) -> Bool { value.hasPrefix(descriptors) }

    /// Returns variables for a program that is started from here, each to be freed, with the original bytes of this process's.
    package static func entries(_ variables: [String: String]) -> [UnsafeMutablePointer<CChar>?] {
        variables.map { name, value in
            guard isStandIn(value), let original = getenv(name) else { return strdup("\(name)=\(value)") }
            let start = "\(name)="
            let entry = malloc(start.utf8.count + strlen(original) + 1)?.assumingMemoryBound(to: CChar.self)
            if let entry {
                strcpy(entry, start)
                strcat(entry, original)
            }
            return entry
        }
    }

    private static func standIn(for value: UnsafePointer<CChar>) -> String? {
        guard value[0] == CChar(bitPattern: UInt8(ascii: "/")) else { return String(cString: value) }
        let descriptor = open(value, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor >= 0 { return descriptors + String(descriptor) }
        // A list of paths.
        return strchr(value, CInt(UInt8(ascii: ":"))) == nil ? nil : String(cString: value)
    }
}
