import Foundation

/// Waits for a server that writes its port to a file: the number that stands there, or behind some text.
///
/// - Throws: ``WorldError`` with what is in the file, if no port is.
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
