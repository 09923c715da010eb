import FoundationEssentials
import NIOSSL

/// A file of PEM blocks, read as OpenSSL reads one: after a byte order mark, with any text around the blocks, and with
/// certificates that carry OpenSSL's own settings.
///
/// BoringSSL skips or refuses some of these, and reads nothing from a file with one block that it refuses.
struct PEMFile {
    private let blocks: [(label: String, body: ArraySlice<UInt8>)]

    init(_ bytes: [UInt8]) {
        var blocks: [(String, ArraySlice<UInt8>)] = []
        var rest = bytes[...]
        while let (_, block) = rest.cut(at: "-----BEGIN "), let (label, body) = block.cut(at: "-----") {
            guard let (text, next) = body.cut(at: "-----END ") else { break }
            blocks.append((String(decoding: label, as: UTF8.self), text))
            rest = next
        }
        self.blocks = blocks
    }

    /// The certificates that can be read.
    var certificates: [NIOSSLCertificate] {
        blocks.compactMap { label, body in
            guard ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains(label),
                let der = Data(base64Encoded: Data(body), options: .ignoreUnknownCharacters)
            else { return nil }
            // OpenSSL's settings follow the certificate, and aren't read.
            return try? NIOSSLCertificate(bytes: Array(der), format: .der)
        }
    }

    /// The private keys, as a PEM file each: `PRIVATE KEY`, `RSA PRIVATE KEY`, `ENCRYPTED PRIVATE KEY`.
    var privateKeys: [[UInt8]] {
        blocks.filter { $0.label.hasSuffix("PRIVATE KEY") }.map { label, body in
            Array("-----BEGIN \(label)-----".utf8) + body + Array("-----END \(label)-----\n".utf8)
        }
    }
}

extension ArraySlice<UInt8> {
    /// Returns what is before and after the first occurrence of a text; nil if there is none.
    fileprivate func cut(at mark: StaticString) -> (Self, Self)? {
        let offset = withUnsafeBytes { bytes in
            bytes.indices.dropLast(mark.utf8CodeUnitCount - 1).first { start in
                bytes[start] == mark.utf8Start.pointee
                    && bytes[start...].starts(
                        with: UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount))
            }
        }
        return offset.map { (prefix($0), dropFirst($0 + mark.utf8CodeUnitCount)) }
    }
}
