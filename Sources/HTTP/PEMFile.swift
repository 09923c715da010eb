import Addresses
import FoundationEssentials

/// A file of PEM blocks (RFC 7468), read as OpenSSL reads one: with any text around the blocks, and with certificates that
/// carry OpenSSL's own settings; and also after a byte order mark, and indented.
package struct PEMFile: Sendable {
    /// What is between two marks.
    package struct Block: Sendable {
        /// What the marks name: `CERTIFICATE`, `RSA PRIVATE KEY`.
        package let label: Substring
        /// The lines between them, put together.
        let body: [UInt8]
    }

    /// The file with its lines where a library that is stricter looks for them.
    package let text: String
    /// The complete blocks.
    package let blocks: [Block]

    /// Finds the blocks.
    package init(_ bytes: [UInt8]) {
        // Files that were put together have byte order marks anywhere, and may lack the line feed between two blocks.
        let apart = String(decoding: bytes, as: UTF8.self).replacing(bytes: "\u{FEFF}", with: "")
            .replacing(bytes: "----------BEGIN ", with: "-----\n-----BEGIN ")
        let lines = apart.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { Substring($0).trimmed(of: " \t\r") }
        text = lines.joined(separator: "\n") + "\n"
        var blocks: [Block] = []
        var open: (label: Substring, body: [UInt8])?
        for line in lines {
            if line.hasPrefix("-----BEGIN ") {
                open = (line.dropFirst("-----BEGIN ".count).trimmed(of: "-"), [])
            } else if line.hasPrefix("-----END ") {
                if let open { blocks.append(Block(label: open.label, body: open.body)) }
                open = nil
            } else {
                open?.body += Array(line.utf8)
            }
        }
        self.blocks = blocks
    }

    /// The certificates in DER.
    ///
    /// What is certainly none is left out: one block that can't be read would cost a library all others.
    package var certificates: [[UInt8]] {
        blocks.compactMap { block in
            guard ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains(block.label),
                let data = Data(base64Encoded: Data(block.body), options: .ignoreUnknownCharacters)
            else { return nil }
            // OpenSSL's settings follow a certificate, which is a sequence with two bytes of length.
            let bytes = Array(data)
            guard bytes.starts(with: [0x30, 0x82]), bytes.count > 4 else { return nil }
            let count = 4 + Int(bytes[2]) << 8 + Int(bytes[3])
            return bytes.count < count ? nil : Array(bytes.prefix(count))
        }
    }

    /// Returns a certificate as PEM that every library reads.
    static func text(der: [UInt8]) -> [UInt8] {
        let body = Data(der).base64EncodedData(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Array("-----BEGIN CERTIFICATE-----\n".utf8) + body + Array("\n-----END CERTIFICATE-----\n".utf8)
    }
}
