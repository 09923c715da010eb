import Foundation

/// Waits for a server that writes its port to a file, and returns the port: the whole contents, or the part after a
/// prefix.
///
/// - Throws: ``WorldError`` with the file's contents if they aren't a port.
package func port(in file: String, after text: String = "") async throws -> String {
    for _ in 0..<1200 {
        let written = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        if let place = text.isEmpty ? written.startIndex : written.range(of: text)?.upperBound {
            let port = written[place...].prefix { $0.isASCII && $0.isNumber }
            if !port.isEmpty { return String(port) }
        }
        try await Task.sleep(for: .milliseconds(50))
    }
    throw WorldError.server((try? String(contentsOfFile: file, encoding: .utf8)) ?? "")
}
